import { createRequire } from 'node:module'
import { trace, type Tracer, type TracerProvider } from '@opentelemetry/api'

/** OpenTelemetry's stand-in for a provider that is not registered yet. */
type StandIn = TracerProvider & {
  setDelegate(provider: TracerProvider): void
  getDelegate(): TracerProvider
  getDelegateTracer(name: string): Tracer | undefined
}

/**
 * Lets instrumentation that asks OpenTelemetry for a tracer have ours. It is lent, not registered: registering would make
 * OpenTelemetry refuse the provider that the program may set up later.
 */
export function lendProvider(provider: TracerProvider, onFault: (error: unknown) => void): void {
  lendTo(trace.getTracerProvider(), provider)
  // From 1.10 on a process may hold the API twice, once for `import` and once for `require`.
  setImmediate(() => {
    try {
      const { trace: required } = createRequire(import.meta.url)('@opentelemetry/api') as {
        trace: typeof trace
      }
      lendTo(required.getTracerProvider(), provider)
    } catch (error) {
      onFault(error)
    }
    import('@opentelemetry/api').then(
      ({ trace: imported }) => lendTo(imported.getTracerProvider(), provider),
      (error: NodeJS.ErrnoException) => {
        // In a vm that has no `import`, as in a test of jest, nobody else can have imported it either.
        if (error.code?.startsWith('ERR_VM_DYNAMIC_IMPORT') !== true) onFault(error)
      },
    )
  }).unref()
}

const lent = new WeakSet<TracerProvider>()

function lendTo(current: TracerProvider, provider: TracerProvider): void {
  if (isStandIn(current) && !isTaken(current)) current.setDelegate(provider)
  lent.add(provider)
}

/** The provider that the program registered itself. */
export function hostsProvider(): TracerProvider | undefined {
  const current = trace.getTracerProvider()
  if (!isStandIn(current)) return current
  return isTaken(current) ? current.getDelegate() : undefined
}

function isTaken(standIn: StandIn): boolean {
  return standIn.getDelegateTracer('playhead') !== undefined && !lent.has(standIn.getDelegate())
}

function isStandIn(provider: TracerProvider): provider is StandIn {
  return 'setDelegate' in provider && 'getDelegate' in provider && 'getDelegateTracer' in provider
}
