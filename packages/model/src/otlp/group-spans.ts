import type { Attributes, Scope, Span } from './span.ts'

/** Spans grouped as in OTLP. */
export type SpansOfResource = { resource: Attributes; scopes: SpansOfScope[] }
type SpansOfScope = { scope: Scope; spans: Span[] }

/** Groups by equal resource and scope, in the order in which they first appear. */
export function groupSpans(spans: readonly Span[]): SpansOfResource[] {
  const resources = new Map<string, SpansOfResource>()
  const scopes = new Map<string, SpansOfScope>()
  const keys = new Map<Attributes, string>()
  for (const span of spans) {
    const resourceKey = keys.get(span.resource) ?? keyOf(span.resource)
    keys.set(span.resource, resourceKey)
    const scopeKey = JSON.stringify([span.scope.name, span.scope.version, resourceKey])
    const ofResource = resources.get(resourceKey) ?? { resource: span.resource, scopes: [] }
    resources.set(resourceKey, ofResource)
    let ofScope = scopes.get(scopeKey)
    if (ofScope === undefined) {
      ofScope = { scope: span.scope, spans: [] }
      scopes.set(scopeKey, ofScope)
      ofResource.scopes.push(ofScope)
    }
    ofScope.spans.push(span)
  }
  return [...resources.values()]
}

function keyOf(resource: Attributes): string {
  return JSON.stringify(Object.entries(resource).sort(([left], [right]) => (left < right ? -1 : 1)))
}
