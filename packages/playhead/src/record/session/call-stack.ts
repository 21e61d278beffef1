/** One function on the stack: where it is called from inside, and which function it is. */
export type StackFrame = { callSite: string; fn: string; isHosts: boolean }

const FRAMES_LOOKED_AT = 60

/** The functions that are on the stack above `below`, those that await them included; innermost first. */
export function captureStack(below: (...args: never[]) => unknown): StackFrame[] {
  // oxlint-disable-next-line typescript/unbound-method -- put back, never called
  const { prepareStackTrace, stackTraceLimit } = Error
  const holder: { stack?: unknown } = {}
  try {
    Error.stackTraceLimit = FRAMES_LOOKED_AT
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
    isHosts: script !== '' && !script.startsWith('node:') && !/[/\\]node_modules[/\\]/.test(script),
  }
}

/**
 * Tells whether code on stack `later` runs inside the flow that was on stack `earlier`, or only shares its context with it
 * because an `async` function changed the context of its caller, which then went on to something else.
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
  // A hook of a test runner and the test after it share the runner's functions only.
  const functions = new Set(earlier.filter((frame) => frame.isHosts).map((frame) => frame.fn))
  return !later.some((frame) => functions.has(frame.fn))
}
