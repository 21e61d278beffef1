import packageJson from '../../../package.json' with { type: 'json' }
import { basename } from 'node:path'
import type { Attributes } from '@opentelemetry/api'
import type { Settings } from '../../runtime/settings.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What describes this process: what we know of it, what OpenTelemetry's variables say, what `init` was given. */
export function resourceAttributes(
  { serviceName, environment, resource }: Settings,
  variables: Environment,
): Attributes {
  return {
    'service.name': programName(),
    'telemetry.sdk.name': 'playhead',
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.version': VERSION,
    'process.pid': process.pid,
    ...readResourceVariable(variables.OTEL_RESOURCE_ATTRIBUTES),
    ...(variables.OTEL_SERVICE_NAME && { 'service.name': variables.OTEL_SERVICE_NAME }),
    ...(serviceName !== undefined && { 'service.name': serviceName }),
    ...(environment !== undefined && { 'deployment.environment.name': environment }),
    ...resource,
  }
}

/** `key=value,key=value`, percent-encoded. An entry that can't be read is left out. */
function readResourceVariable(text: string | undefined): Attributes {
  const attributes: Attributes = {}
  for (const entry of text?.split(',') ?? []) {
    const equals = entry.indexOf('=')
    const key = decode(entry.slice(0, Math.max(0, equals)))
    const value = decode(entry.slice(equals + 1))
    if (equals > 0 && key !== undefined && key !== '' && value !== undefined) attributes[key] = value
  }
  return attributes
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.trim().replace(/^"(.*)"$/, '$1'))
  } catch {
    return undefined
  }
}

/** The script without its folder and ending: what people call the program. */
function programName(): string {
  const script = process.argv[1]
  return script === undefined ? 'node' : basename(script).replace(/\.[cm]?[jt]s$/, '')
}

export const VERSION: string = packageJson.version
