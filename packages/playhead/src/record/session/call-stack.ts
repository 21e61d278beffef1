/** One function on the stack, and the position of the call inside it. */
export type StackFrame = { callSite: string; fn: string; isHostCode: boolean }

const MAX_FRAMES = 60

/** The functions on the stack above `below`, including those that await it; innermost first. */
export function captureStack(below: (...args: never[]) => unknown): StackFrame[] {
  // oxlint-disable-next-line typescript/unbound-method -- put back, never called
  const { prepareStackTrace, stackTraceLimit } = Error
  const holder: { stack?: unknown } = {}
  try {
    Error.stackTraceLimit = MAX_FRAMES
    Error.prepareStackTrace = (_error, sites) => sites
    Error.captureStackTrace(holder, below)
    const { stack } = holder
    return Array.isArray(stack) ? (stack as NodeJS.CallSite[]).map(toFrame) : []
  } catch {
    return []
  } finally {
    if (prepareStackTrace === undefined) Reflect.deleteProperty(Error, 'prepareStackTrace')
    else Error.prepareStackTrace = prepareStackTrace
    Error.stackTraceLimit = stackTraceLimit
  }
}

function toFrame(site: NodeJS.CallSite): StackFrame {
  const script = site.getScriptNameOrSourceURL() ?? site.getFileName() ?? ''
  return {
    callSite: `${script}:${site.getLineNumber()}:${site.getColumnNumber()}`,
    fn: `${script}:${site.getEnclosingLineNumber()}:${site.getEnclosingColumnNumber()}`,
    isHostCode: script !== '' && !script.startsWith('node:') && !/[/\\]node_modules[/\\]/.test(script),
  }
}

/**
 * Tells whether the code on stack `later` runs inside the flow that started on stack `earlier`. It may only share its
 * context, because an `async` function changed the context of its caller, which then went on to something else.
 */
export function isInsideFlow(
  later: readonly StackFrame[],
  earlier: readonly StackFrame[],
  isSameTick: boolean,
): boolean {
  const [starter] = earlier
  const [caller] = later
  if (starter === undefined || caller === undefined) return true
  const isSameSite = caller.callSite === starter.callSite
  const around = isSameSite ? later.slice(1) : later
  if (around.some((frame) => frame.fn === starter.fn)) return true
  if (isSameSite || isSameTick) return false
  // A test and its hooks only share functions of the test runner.
  const functions = new Set(earlier.filter((frame) => frame.isHostCode).map((frame) => frame.fn))
  return !later.some((frame) => functions.has(frame.fn))
}
