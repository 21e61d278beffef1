import { useHealth } from '../api/health.ts'
import { CodeBlock } from '../ui/data/code-block.tsx'
import { Skeleton } from '../ui/data/skeleton.tsx'
import './about-section.css'

/** The version of the server and its endpoints. */
export function AboutSection() {
  const health = useHealth(60_000)
  const { origin } = location
  return (
    <>
      <p>
        Playhead {health.data?.version ?? (health.error === null ? <Skeleton width={40} /> : '')} records what
        an AI agent does, lets you replay it, and lets you test it.
      </p>
      <h2>Send data</h2>
      <dl className="about">
        <dt>SDK</dt>
        <dd>
          <CodeBlock label="SDK setting" text={`PLAYHEAD_ENDPOINT=${origin}`} />
        </dd>
        <dt>Any OpenTelemetry SDK</dt>
        <dd>
          <CodeBlock label="exporter setting" text={`OTEL_EXPORTER_OTLP_ENDPOINT=${origin}`} />
        </dd>
        <dt>Traces and logs</dt>
        <dd>
          <CodeBlock label="addresses" text={`${origin}/v1/traces\n${origin}/v1/logs`} />
        </dd>
      </dl>
      <h2>Read data</h2>
      <ul className="about-links">
        <li>
          <a href="/api/openapi.json">/api/openapi.json</a>{' '}
          <span className="dim">the API reference (OpenAPI)</span>
        </li>
        <li>
          <a href="/metrics">/metrics</a> <span className="dim">for Prometheus</span>
        </li>
        <li>
          <a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a>{' '}
          <span className="dim">for health checks</span>
        </li>
      </ul>
    </>
  )
}
