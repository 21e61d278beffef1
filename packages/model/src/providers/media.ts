import { firstText, isRecord, type JsonObject } from '../json/attribute-value.ts'
import type { Part } from '../session/message.ts'

type Media = Extract<Part, { type: 'media' }>

const dataUrl = /^data:([^;,]*)[^,]*,/
const address = /^(?:https?|gs|s3|file|blob):/i

/** An image, audio, video or file in any provider's shape; undefined if it is none of these. */
export function readMedia(raw: JsonObject): Part | undefined {
  const holder = findHolder(raw)
  // Anthropic's documents may be plain text.
  if (holder.type === 'text' && typeof holder.data === 'string') return { type: 'text', text: holder.data }
  const mimeType = firstText(
    holder.mime_type,
    holder.mimeType,
    holder.mediaType,
    holder.media_type,
    holder.contentType,
    raw.mime_type,
    raw.mimeType,
    raw.mediaType,
    isRecord(raw.input_audio) && typeof holder.format === 'string' ? `audio/${holder.format}` : undefined,
  )
  const media: Media = { type: 'media', modality: modalityOf(raw, mimeType) }
  if (mimeType !== undefined) media.mimeType = mimeType
  const fileId = firstText(holder.file_id, holder.fileId, raw.file_id)
  if (fileId !== undefined) media.fileId = fileId
  return setSource(media, holder, raw) || fileId !== undefined ? media : undefined
}

const holders = [
  'source',
  'image_url',
  'input_audio',
  'file',
  'inline_data',
  'inlineData',
  'file_data',
  'fileData',
  'media',
  'image',
  'audio',
  'video',
  'document',
  'image_file',
]

/** True for an object whose key is its type: { inline_data: … }. */
export function hasMediaInside(raw: JsonObject): boolean {
  return holders.some((key) => isRecord(raw[key]))
}

/** The object that holds the bytes or the URL, often one level down. */
function findHolder(raw: JsonObject): JsonObject {
  for (const key of holders) {
    const inner = raw[key]
    if (isRecord(inner)) return isRecord(inner.source) ? inner.source : inner
  }
  return raw
}

/** Sets the bytes or the URL; returns false if there is neither. */
function setSource(media: Media, holder: JsonObject, raw: JsonObject): boolean {
  const url = firstText(holder.url, holder.uri, holder.file_uri, holder.fileUri, raw.image_url, raw.file_url)
  const source = url ?? firstText(holder.data, holder.file_data, holder.bytes, raw.image, raw.content)
  if (source === undefined) return false
  const inline = dataUrl.exec(source)
  if (inline !== null) {
    if (inline[1] !== '' && inline[1] !== undefined) media.mimeType ??= inline[1]
    media.base64 = source.slice(inline[0].length)
  } else if (url !== undefined || address.test(source)) media.uri = source
  else media.base64 = source
  return true
}

function modalityOf(raw: JsonObject, mimeType: string | undefined): string {
  const stated = firstText(raw.modality)
  if (stated !== undefined) return stated
  const hint = `${firstText(raw.type) ?? Object.keys(raw)[0] ?? ''} ${mimeType ?? ''}`
  for (const modality of ['image', 'audio', 'video']) if (hint.includes(modality)) return modality
  return 'file'
}
