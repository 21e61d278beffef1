import { isRecord, textOf, type JsonObject } from '../json/attribute-value.ts'
import type { ModelApi } from '../providers/model-api.ts'
import type { ForkEdit } from '../session/rerun.ts'
import { formOf } from './request-form.ts'

export type EditedRequest = { url: URL; body: JsonObject }

type RequestEdit = Pick<ForkEdit, 'system' | 'prompt' | 'model'>

/**
 * Rewrites the model calls of a fork. An agent sends its own texts again with every call, so an edit stays: what it
 * replaced in the first call is replaced in every later one.
 */
export class RequestEditor {
  readonly #edit: RequestEdit
  readonly #replaced: { old: string; text: string }[] = []
  #oldSystem: string | undefined
  #oldModel: string | undefined

  constructor(edit: RequestEdit) {
    this.#edit = edit
  }

  /** The call that the fork begins with. Returns a sentence if the edit can't be made. */
  editFirst(api: ModelApi, { url, body }: EditedRequest): EditedRequest | string {
    const form = formOf(api, body)
    let edited = body
    for (const name of ['system', 'prompt'] as const) {
      const text = this.#edit[name]
      if (text === undefined) continue
      const place = form?.[name]
      if (place === undefined)
        return `This API has no ${name === 'system' ? 'system prompt' : 'prompt'} to replace.`
      const old = place.read(edited)
      if (old !== undefined && old !== '') this.#replaced.push({ old, text })
      if (name === 'system') this.#oldSystem = old
      edited = place.write(edited, text)
    }
    this.#oldModel = modelOf(url, body)
    return this.#withModel({ url, body: edited })
  }

  /** A call after it. One to another model keeps that model. */
  editLater(api: ModelApi, { url, body }: EditedRequest): EditedRequest {
    const edited = replaceTexts(this.#withSystem(api, body), this.#replaced)
    const isOtherModel = this.#oldModel !== undefined && modelOf(url, body) !== this.#oldModel
    return isOtherModel ? { url, body: edited } : this.#withModel({ url, body: edited })
  }

  #withSystem(api: ModelApi, body: JsonObject): JsonObject {
    const place = formOf(api, body)?.system
    const { system } = this.#edit
    if (system === undefined || place === undefined || place.read(body) !== this.#oldSystem) return body
    return place.write(body, system)
  }

  #withModel(request: EditedRequest): EditedRequest {
    return this.#edit.model === undefined ? request : withModel(request, this.#edit.model)
  }
}

/** Azure, Gemini, Bedrock and Vertex name the model in the path. */
const modelInPath = /(\/(?:deployments|models?)\/)([^/:]+(?::\d+)?)(?=[/:])/

export function modelOf({ pathname }: URL, body: JsonObject): string | undefined {
  return modelInPath.exec(decodeURIComponent(pathname))?.[2] ?? (textOf(body.model) || undefined)
}

/** The same request to another model. */
export function withModel({ url, body }: EditedRequest, model: string): EditedRequest {
  const edited = typeof body.model === 'string' ? { ...body, model } : body
  const path = decodeURIComponent(url.pathname)
  if (!modelInPath.test(path)) return { url, body: { ...edited, model } }
  const other = new URL(url)
  other.pathname = path.replace(modelInPath, (_all, start: string) => start + encodeURIComponent(model))
  return { url: other, body: edited }
}

/** Fields of a request that hold what somebody wrote. Ids, names and arguments of calls stay as they are. */
const textFields = new Set([
  'messages',
  'input',
  'contents',
  'parts',
  'content',
  'text',
  'instructions',
  'system',
  'systemInstruction',
  'system_instruction',
  'prompt',
])

/** A short text may be part of any word, so it is replaced only where it stands alone. */
const SHORTEST_PART = 16

function replaceTexts(body: JsonObject, replaced: readonly { old: string; text: string }[]): JsonObject {
  const replace = (found: string): string =>
    replaced.reduce((result, { old, text }) => {
      if (result === old) return text
      return old.length < SHORTEST_PART ? result : result.replaceAll(old, () => text)
    }, found)
  const visit = (value: unknown): unknown => {
    if (typeof value === 'string') return replace(value)
    if (Array.isArray(value)) return value.map(visit)
    return isRecord(value) ? visitFields(value) : value
  }
  const visitFields = (fields: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, textFields.has(name) ? visit(value) : value]),
    )
  return replaced.length === 0 ? body : visitFields(body)
}
