import { createRequire } from 'node:module'
import { trace, type Tracer, type TracerProvider } from '@opentelemetry/api'

/** What OpenTelemetry's API returns until a provider is registered. */
type ProxyProvider = TracerProvider & {
  setDelegate(provider: TracerProvider): void
  getDelegate(): TracerProvider
  getDelegateTracer(name: string): Tracer | undefined
}

/** The provider that the host registered, if any. */
export function findHostProvider(): TracerProvider | undefined {
  const current = trace.getTracerProvider()
  if (!isProxy(current)) return current
  return hasHostDelegate(current) ? current.getDelegate() : undefined
}

/**
 * Lets third-party instrumentation use our provider until the host registers one. We only set it as the delegate of
 * OpenTelemetry's proxy: if we registered it, OpenTelemetry would refuse the host's provider later.
 */
export function lendProvider(provider: TracerProvider, onFault: (error: unknown) => void): void {
  delegateTo(provider, trace.getTracerProvider())
  // Since 1.10, a process may hold the API twice: once for `import` and once for `require`.
  setImmediate(() => {
    try {
      const { trace: required } = createRequire(import.meta.url)('@opentelemetry/api') as {
        trace: typeof trace
      }
      delegateTo(provider, required.getTracerProvider())
    } catch (error) {
      onFault(error)
    }
    import('@opentelemetry/api').then(
      ({ trace: imported }) => delegateTo(provider, imported.getTracerProvider()),
      (error: NodeJS.ErrnoException) => {
        // A vm without `import`, as in jest, can't have loaded a second copy either.
        if (error.code?.startsWith('ERR_VM_DYNAMIC_IMPORT') !== true) onFault(error)
      },
    )
  }).unref()
}

const lentProviders = new WeakSet<TracerProvider>()

function delegateTo(provider: TracerProvider, current: TracerProvider): void {
  if (isProxy(current) && !hasHostDelegate(current)) current.setDelegate(provider)
  lentProviders.add(provider)
}

function hasHostDelegate(proxy: ProxyProvider): boolean {
  return proxy.getDelegateTracer('playhead') !== undefined && !lentProviders.has(proxy.getDelegate())
}

function isProxy(provider: TracerProvider): provider is ProxyProvider {
  return 'setDelegate' in provider && 'getDelegate' in provider && 'getDelegateTracer' in provider
}
