import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { callApi } from '../api/call-api.ts'
import { useMe } from '../api/access.ts'
import { DEFAULT_PROJECT, useProjectId } from '../api/projects.ts'
import { Button } from '../ui/controls/button.tsx'
import { CodeBlock } from '../ui/data/code-block.tsx'
import './first-session.css'

/** Shown in an empty project: how to record the first session. */
export function FirstSession() {
  const me = useMe()
  const project = useProjectId()
  const isAuthOn = me.data?.isAuthOn === true
  // A key selects the project; without auth, a header can do so too.
  const needsKey = isAuthOn || project !== DEFAULT_PROJECT
  const { origin } = location
  return (
    <div className="first-session">
      <h1>Record your first session</h1>
      <p className="dim">
        A session is one run of your agent: every prompt, tool call, cost and error, ready to replay. It
        appears here while it runs.
      </p>
      <Demo />
      <section aria-labelledby="with-sdk">
        <h2 id="with-sdk">With the SDK</h2>
        <CodeBlock label="install command" text="npm i playhead" />
        <CodeBlock label="code" text={sdkCode(origin, needsKey)} />
      </section>
      <section aria-labelledby="with-otel">
        <h2 id="with-otel">With OpenTelemetry</h2>
        <p className="dim">
          Point any OTLP exporter here, over HTTP, with protobuf or JSON. The Vercel AI SDK, OpenInference,
          OpenLLMetry and others work without changes.
        </p>
        <CodeBlock label="endpoint" text={otelSettings(origin, isAuthOn, project)} />
      </section>
      {needsKey && (
        <p>
          The key selects the project:{' '}
          <Link to="/settings/$section" params={{ section: 'keys' }}>
            create a key
          </Link>
          .
        </p>
      )}
    </div>
  )
}

function sdkCode(origin: string, needsKey: boolean): string {
  const isDefaultEndpoint = /^http:\/\/(localhost|127\.0\.0\.1):4318$/.test(origin)
  const options = [!isDefaultEndpoint && `endpoint: '${origin}'`, needsKey && "apiKey: 'ph_…'"].filter(
    Boolean,
  )
  return `import * as playhead from 'playhead'
playhead.init(${options.length === 0 ? '' : `{ ${options.join(', ')} }`})
await playhead.withSession({ name: 'support' }, () => runYourAgent())`
}

function otelSettings(origin: string, isAuthOn: boolean, project: string): string {
  const endpoint = `OTEL_EXPORTER_OTLP_ENDPOINT=${origin}`
  if (isAuthOn) return `${endpoint}\nOTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer ph_…"`
  if (project !== DEFAULT_PROJECT)
    return `${endpoint}\nOTEL_EXPORTER_OTLP_HEADERS="x-playhead-project=${project}"`
  return endpoint
}

function useIsDemoThere(): boolean {
  const project = useProjectId()
  const { data } = useQuery({
    queryKey: ['demo', project],
    queryFn: () => callApi('GET /api/demo', { query: { project } }),
    staleTime: Infinity,
  })
  return data?.isAvailable === true
}

const LOADING = 'Loading demo…'

function Demo() {
  const isThere = useIsDemoThere()
  const client = useQueryClient()
  const project = useProjectId()
  const loading = useMutation({
    mutationFn: () => callApi('POST /api/demo', { query: { project } }),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ['sessions', project] }),
        client.invalidateQueries({ queryKey: ['stats', project] }),
      ]),
  })
  if (!isThere) return null
  return (
    <div className="first-demo">
      <Button look="accent" onClick={() => loading.mutate()} disabled={loading.isPending}>
        <Play size={14} aria-hidden="true" />
        {loading.isPending ? LOADING : 'Load demo'}
      </Button>
      <span className="dim">
        {loading.error === null
          ? 'A few sessions of a support agent; one of them fails.'
          : loading.error.message}
      </span>
      <span className="visually-hidden" role="status">
        {loading.isPending ? LOADING : ''}
      </span>
    </div>
  )
}
