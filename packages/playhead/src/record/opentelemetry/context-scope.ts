import { AsyncLocalStorage } from 'node:async_hooks'
import {
  context as contextApi,
  createContextKey,
  ROOT_CONTEXT,
  type Context,
  type ContextManager,
} from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'

/** Keeps the current context: in the host's context manager, or in ours if it has none. */
export type ContextScope = {
  active(): Context
  run<Args extends unknown[], Result>(
    context: Context,
    callback: (...args: Args) => Result,
    ...args: Args
  ): Result
  /** Makes the context current for the rest of this async flow. */
  enter(context: Context): void
  /** Runs a callback outside of any context of the host, and untraced. */
  detach(callback: () => void): void
}

/** Uses the registered context manager, or registers one. */
export function createContextScope(): ContextScope {
  const runOutside = AsyncLocalStorage.snapshot()
  const scope = createScope()
  const untraced = ROOT_CONTEXT.setValue(SUPPRESS_TRACING, true)
  return { ...scope, detach: (callback) => runOutside(() => scope.run(untraced, callback)) }
}

type AttachedScope = Omit<ContextScope, 'detach'>

function createScope(): AttachedScope {
  if (isManagerRegistered()) return scopeOfHost()
  const manager = new AsyncLocalStorageContextManager()
  return contextApi.setGlobalContextManager(manager) ? scopeOfOwn(manager) : scopeOfHost()
}

/** Probes with a context, because OpenTelemetry logs an error if a second manager is registered. */
function isManagerRegistered(): boolean {
  const probe = ROOT_CONTEXT.setValue(createContextKey('playhead probe'), true)
  return contextApi.with(probe, () => contextApi.active() === probe)
}

function scopeOfOwn(manager: AsyncLocalStorageContextManager): AttachedScope {
  return {
    active: () => manager.active(),
    run: (context, callback, ...args) => manager.with(context, callback, undefined, ...args),
    enter: (context) => void manager.attach(context),
  }
}

function scopeOfHost(): AttachedScope {
  // For managers whose context can't be set: our steps see the session, the host's instrumentation does not.
  const entered = new AsyncLocalStorage<Context>()
  return {
    active() {
      const active = contextApi.active()
      return active === ROOT_CONTEXT ? (entered.getStore() ?? active) : active
    },
    run: (context, callback, ...args) => contextApi.with(context, callback, undefined, ...args),
    enter(context) {
      if (!enterHostContext(context)) entered.enterWith(context)
    },
  }
}

type AttachingManager = ContextManager & { attach?(context: Context): unknown }

/** Older context managers have no `attach`, but they all keep their storage in the same private field. */
function enterHostContext(context: Context): boolean {
  const manager = (
    contextApi as unknown as { _getContextManager?(): AttachingManager }
  )._getContextManager?.()
  if (typeof manager?.attach === 'function') {
    manager.attach(context)
    return true
  }
  const storage: unknown = (manager as { _asyncLocalStorage?: unknown } | undefined)?._asyncLocalStorage
  if (!(storage instanceof AsyncLocalStorage)) return false
  storage.enterWith(context)
  return true
}

/** OpenTelemetry's own key: instrumentation checks it before it starts a span. */
const SUPPRESS_TRACING = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING')

export function isTracingSuppressed(context: Context): boolean {
  return context.getValue(SUPPRESS_TRACING) === true
}
