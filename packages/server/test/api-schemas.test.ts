import { afterAll, beforeAll, expect, test } from 'vitest'
import { responseSchemas, type ApiResponses } from '../src/api/schemas/responses.ts'
import { otlpFolders, otlpRequests } from './fixtures.ts'
import { startTestServer } from './test-server.ts'

const server = await startTestServer()
afterAll(() => server.stop())

beforeAll(async () => {
  for (const { path, contentType, body } of otlpFolders().flatMap(otlpRequests)) {
    const headers = { 'content-type': contentType }
    const response = await server.request(path, { method: 'POST', headers, body: new Uint8Array(body) })
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
  }
})

type Operation = { responses: Record<string, { content?: Record<string, unknown> }> }

test('the OpenAPI document has exactly the JSON routes that have a response schema', async () => {
  const document = (await (await server.request('/api/openapi.json')).json()) as {
    paths: Record<string, Record<string, Operation>>
  }

  const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(
        ([, { responses }]) =>
          (responses['200'] ?? responses['201'] ?? responses['202'])?.content?.['application/json'] !==
          undefined,
      )
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  )
  expect(routes.sort()).toEqual(Object.keys(responseSchemas).sort())
})

test('every session, step and recording has the fields of its schema, and no others', async () => {
  const { sessions } = await expectSchema('GET /api/sessions', '/api/sessions?limit=1000')
  for (const { id } of sessions) {
    const { steps } = await expectSchema('GET /api/sessions/{id}', `/api/sessions/${id}?payloads=all`)
    await expectSchema('GET /api/sessions/{id}/recording', `/api/sessions/${id}/recording`)
    const stepPath = `/api/sessions/${id}/steps/${steps[0]!.id}`
    await expectSchema('GET /api/sessions/{id}/steps/{stepId}', stepPath)
  }
})

test.for([
  ['GET /api/values', '/api/values?field=model'],
  ['GET /api/stats', '/api/stats?interval=auto&groupBy=model'],
  ['GET /api/tests', '/api/tests'],
  ['GET /api/graph', '/api/graph'],
  ['GET /api/projects', '/api/projects'],
  ['GET /api/keys', '/api/keys'],
  ['GET /api/me', '/api/me'],
  ['GET /api/health', '/api/health'],
  ['GET /api/demo', '/api/demo'],
  ['GET /api/monitors', '/api/monitors'],
] as const)(
  '%s has the fields of its schema, and no others',
  async ([route, path]) => void (await expectSchema(route, path)),
)

async function expectSchema<Route extends keyof ApiResponses>(
  route: Route,
  path: string,
): Promise<ApiResponses[Route]> {
  const body: unknown = await (await server.request(path)).json()
  // Parsing drops the fields that a schema does not have.
  expect(responseSchemas[route].parse(body)).toEqual(body)
  return body as ApiResponses[Route]
}
