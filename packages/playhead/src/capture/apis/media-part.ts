import type { MessagePart } from './model-api.ts'

const dataUrl = /^data:([^;,]*)[^,]*,/

type Media = { modality: string; mimeType?: string | undefined }

/** Media by its address, or by its bytes where the address holds them. */
export function mediaAt(address: string, { modality, mimeType }: Media): MessagePart {
  const inline = dataUrl.exec(address)
  if (inline === null)
    return { type: 'uri', modality, ...(mimeType !== undefined && { mime_type: mimeType }), uri: address }
  return mediaOf(address.slice(inline[0].length), { modality, mimeType: inline[1] || mimeType })
}

/** Media by its bytes in base64. */
export function mediaOf(base64: string, { modality, mimeType }: Media): MessagePart {
  return { type: 'blob', modality, ...(mimeType !== undefined && { mime_type: mimeType }), content: base64 }
}

/** Media that the provider already has. */
export function mediaInFile(fileId: string, { modality }: Media): MessagePart {
  return { type: 'file', modality, file_id: fileId }
}

/** `image`, `audio`, `video`, or `file`. */
export function modalityOf(mimeType: string | undefined): string {
  const family = mimeType?.split('/', 1)[0]
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'file'
}
