import type { StepError } from '../../session/step.ts'
import {
  firstText,
  isMeaningful,
  isRecord,
  toNumber,
  toText,
  type JsonObject,
} from '../../json/attribute-value.ts'
import { previewJson } from './preview.ts'

/** The failure that a returned result describes; undefined when it describes none. */
export function softErrorOf(result: unknown): StepError | undefined {
  if (!isRecord(result)) return undefined
  const exitCode = exitCodeOf(result)
  if (exitCode !== undefined && exitCode !== 0) {
    const said = firstText(result.stderr, result.stdout)
    return { type: 'ExitCode', message: said === undefined ? `exit code ${exitCode}` : firstLine(said) }
  }
  const isFailed =
    result.isError === true ||
    result.is_error === true ||
    result.success === false ||
    result.ok === false ||
    isErrorWord(result.status) ||
    hasError(result.error)
  return isFailed ? { type: typeOf(result), message: messageOf(result) } : undefined
}

/** `{ status: 'error', message: … }`; a status is often something else, like that of an order. */
function isErrorWord(status: unknown): boolean {
  return typeof status === 'string' && /^(?:error|errored|failure)$/i.test(status)
}

function hasError(error: unknown): boolean {
  if (error === false || error === 0 || error === 'null' || error === 'None') return false
  return isMeaningful(error)
}

/** The exit code, if the result also has the program's output. */
function exitCodeOf(result: JsonObject): number | undefined {
  if (result.stdout === undefined && result.stderr === undefined) return undefined
  return toNumber(result.exitCode ?? result.exit_code ?? result.code ?? result.returncode)
}

function typeOf({ error, ...result }: JsonObject): string {
  const inner = isRecord(error) ? firstText(error.type, error.name, error.code) : undefined
  return inner ?? firstText(result.errorType, result.error_type, result.error_code) ?? 'ToolError'
}

function messageOf(result: JsonObject): string {
  const { error } = result
  if (isRecord(error)) return firstText(error.message, error.detail) ?? previewJson(error)
  const text = error === true ? undefined : toText(error)
  const said =
    text ??
    firstText(
      result.message,
      result.error_message,
      result.reason,
      result.detail,
      result.content,
      textOfBlocks(result.content),
    )
  return said === undefined ? previewJson(result) : said
}

/** MCP returns a list of blocks. */
function textOfBlocks(content: unknown): string | undefined {
  if (!Array.isArray(content)) return isRecord(content) ? previewJson(content) : undefined
  return firstText(content.map((block) => (isRecord(block) ? (toText(block.text) ?? '') : '')).join('\n'))
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0]!
}
