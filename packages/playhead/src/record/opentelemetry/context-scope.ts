import { AsyncLocalStorage } from 'node:async_hooks'
import {
  context as contextApi,
  createContextKey,
  ROOT_CONTEXT,
  type Context,
  type ContextManager,
} from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'

/** Where the current context is kept: the program's own context manager, or ours where it has none. */
export type ContextScope = {
  active(): Context
  run<Args extends unknown[], Result>(
    context: Context,
    callback: (...args: Args) => Result,
    ...args: Args
  ): Result
  /** Makes the context the current one for the rest of this flow of calls, across its awaits. */
  enter(context: Context): void
}

/** Joins the context manager that is registered; registers one when there is none. */
export function createContextScope(): ContextScope {
  if (isManagerRegistered()) return scopeOfHost()
  const manager = new AsyncLocalStorageContextManager()
  return contextApi.setGlobalContextManager(manager) ? scopeOfOwn(manager) : scopeOfHost()
}

/** Asks by trying: registering a second one would be written to the host's log as an error. */
function isManagerRegistered(): boolean {
  const probe = ROOT_CONTEXT.setValue(createContextKey('playhead probe'), true)
  return contextApi.with(probe, () => contextApi.active() === probe)
}

function scopeOfOwn(manager: AsyncLocalStorageContextManager): ContextScope {
  return {
    active: () => manager.active(),
    run: (context, callback, ...args) => manager.with(context, callback, undefined, ...args),
    enter: (context) => void manager.attach(context),
  }
}

function scopeOfHost(): ContextScope {
  // For managers whose context can't be set: the host's instrumentation does not see the session then, our steps do.
  const entered = new AsyncLocalStorage<Context>()
  return {
    active() {
      const active = contextApi.active()
      return active === ROOT_CONTEXT ? (entered.getStore() ?? active) : active
    },
    run: (context, callback, ...args) => contextApi.with(context, callback, undefined, ...args),
    enter(context) {
      if (!enterHosts(context)) entered.enterWith(context)
    },
  }
}

/** A manager that can set the context of a flow that is already under way. */
type Attaching = ContextManager & { attach?(context: Context): unknown }

/** Managers of older OpenTelemetry have no `attach`; their storage is where it has been since its first version. */
function enterHosts(context: Context): boolean {
  const manager = (contextApi as unknown as { _getContextManager?(): Attaching })._getContextManager?.()
  if (typeof manager?.attach === 'function') {
    manager.attach(context)
    return true
  }
  const storage: unknown = (manager as { _asyncLocalStorage?: unknown } | undefined)?._asyncLocalStorage
  if (!(storage instanceof AsyncLocalStorage)) return false
  storage.enterWith(context)
  return true
}

/** OpenTelemetry's own key: instrumentation looks at it before it traces. */
const SUPPRESS_TRACING = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING')

export function suppressTracing(context: Context): Context {
  return context.setValue(SUPPRESS_TRACING, true)
}

export function isTracingSuppressed(context: Context): boolean {
  return context.getValue(SUPPRESS_TRACING) === true
}
