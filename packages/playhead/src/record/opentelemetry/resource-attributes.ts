import packageJson from '../../../package.json' with { type: 'json' }
import { basename } from 'node:path'
import type { Attributes } from '@opentelemetry/api'

export const VERSION: string = packageJson.version

export type ResourceSettings = {
  serviceName: string | undefined
  environment: string | undefined
  resource: Readonly<Record<string, string | number | boolean>>
}

type Environment = Readonly<Record<string, string | undefined>>

/** Describes this process. Settings take precedence over OpenTelemetry's environment variables, and those over defaults. */
export function resourceAttributes(
  { serviceName, environment, resource }: ResourceSettings,
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

/** `key=value,key=value`, percent-encoded. Invalid entries are skipped. */
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

/** The script's file name without its extension. */
function programName(): string {
  const script = process.argv[1]
  return script === undefined ? 'node' : basename(script).replace(/\.[cm]?[jt]s$/, '')
}
