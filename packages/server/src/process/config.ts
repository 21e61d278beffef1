import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { BlockList } from 'node:net'
import { isLoopback } from '../access/addresses.ts'
import type { OidcSettings } from '../access/oidc.ts'
import type { FirstRoles } from '../access/people.ts'
import { roles, type Role } from '../api/schemas/settings.ts'
import { readProxies } from '../access/client-address.ts'
import { MAX_BODY_BYTES } from '../door/body-limits.ts'
import { readAllowedTargets, type AllowedTargets } from '../alerts/address-guard.ts'
import type { TlsFiles } from './tls-identity.ts'

/** The settings of the server. Only this file reads the environment. */
export type Config = {
  host: string
  port: number
  /** The port of OTLP/gRPC; undefined turns it off. */
  grpcPort: number | undefined
  /** The folder of the log, the embedded engine and all other files. */
  dataDirectory: string
  clickhouseUrl: string | undefined
  clickhouseCluster: string | undefined
  /** Whether requests need a key or a login. */
  isAuthOn: boolean
  /** The password of the login page; required if auth is on. */
  password: string | undefined
  /** The certificate and key for HTTP and gRPC; undefined serves both in plain text. */
  tls: TlsFiles | undefined
  /** Where people log in, besides with the password. */
  oidc: (OidcSettings & { firstRoles: FirstRoles }) | undefined
  isDemoOn: boolean
  /** The address that people use, for links in responses; undefined uses the address of the request. */
  publicUrl: string | undefined
  /** Proxies whose `X-Forwarded-For` names the client. */
  trustedProxies: BlockList
  maxBodyBytes: number
  /** Addresses that are not public and that alerts may go to all the same. */
  alertAllow: AllowedTargets
}

export type ConfigProblem = { problem: string }

const MEBIBYTE = 1024 * 1024
const DEFAULT_PORT = 4318
const DEFAULT_GRPC_PORT = 4317

/** Reads the environment. A mistake is returned as a sentence that says how to fix it. */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>>,
): Config | ConfigProblem {
  const host = environment.PLAYHEAD_HOST || '127.0.0.1'
  const port = Number(environment.PLAYHEAD_PORT || DEFAULT_PORT)
  if (!isPort(port)) {
    return {
      problem: `PLAYHEAD_PORT is "${environment.PLAYHEAD_PORT}"; it must be a port number, for example 4318.`,
    }
  }
  const grpcPort = readGrpcPort(environment.PLAYHEAD_GRPC_PORT, port)
  if (typeof grpcPort === 'object') return grpcPort
  const auth = environment.PLAYHEAD_AUTH?.toLowerCase()
  if (auth !== undefined && auth !== '' && auth !== 'on' && auth !== 'off') {
    return { problem: `PLAYHEAD_AUTH is "${auth}"; it can be "on" or "off" (off on loopback only).` }
  }
  const password = environment.PLAYHEAD_PASSWORD || undefined
  const isAuthOn = auth === 'on' || (auth !== 'off' && !isLoopback(host))
  const refusal = authProblem(host, isAuthOn, password)
  if (refusal !== undefined) return { problem: refusal }
  const tls = readTls(environment)
  if (tls !== undefined && 'problem' in tls) return tls
  const oidc = readOidc(environment, isAuthOn)
  if (oidc !== undefined && 'problem' in oidc) return oidc
  const maxBodyMebibytes = Number(environment.PLAYHEAD_MAX_BODY_MB || MAX_BODY_BYTES / MEBIBYTE)
  if (!(maxBodyMebibytes >= 1 && maxBodyMebibytes <= 512)) {
    return {
      problem: `PLAYHEAD_MAX_BODY_MB is "${environment.PLAYHEAD_MAX_BODY_MB}"; it must be from 1 to 512.`,
    }
  }
  const trustedProxies = readProxies(environment.PLAYHEAD_TRUSTED_PROXIES ?? '')
  if (!(trustedProxies instanceof BlockList)) {
    return {
      problem: `PLAYHEAD_TRUSTED_PROXIES contains "${trustedProxies.problem}"; list addresses or networks, for example 10.0.0.1, 10.1.0.0/16.`,
    }
  }
  const alertAllow = readAllowedTargets(environment.PLAYHEAD_ALERT_ALLOW ?? '')
  if ('problem' in alertAllow) {
    return {
      problem: `PLAYHEAD_ALERT_ALLOW contains "${alertAllow.problem}"; list addresses, networks or host names, for example 10.0.0.7, 10.1.0.0/16, alertmanager.internal.`,
    }
  }
  return {
    host,
    port,
    grpcPort,
    dataDirectory: dataDirectoryOf(environment),
    clickhouseUrl: environment.CLICKHOUSE_URL || undefined,
    clickhouseCluster: environment.CLICKHOUSE_CLUSTER || undefined,
    isAuthOn,
    password,
    tls,
    oidc,
    isDemoOn: environment.PLAYHEAD_DEMO?.toLowerCase() !== 'off',
    publicUrl: environment.PLAYHEAD_URL?.replace(/\/+$/, '') || undefined,
    trustedProxies,
    maxBodyBytes: maxBodyMebibytes * MEBIBYTE,
    alertAllow,
  }
}

export function dataDirectoryOf(environment: Readonly<Record<string, string | undefined>>): string {
  return resolve(environment.PLAYHEAD_DATA || join(homedir(), '.playhead'))
}

/** With a custom HTTP port, gRPC is off unless it is set too: the default port belongs to the default server. */
function readGrpcPort(text: string | undefined, httpPort: number): number | undefined | ConfigProblem {
  if (text === undefined || text === '') return httpPort === DEFAULT_PORT ? DEFAULT_GRPC_PORT : undefined
  if (text.toLowerCase() === 'off') return undefined
  const port = Number(text)
  if (isPort(port)) return port
  return {
    problem: `PLAYHEAD_GRPC_PORT is "${text}"; it must be a port number, for example 4317, or "off".`,
  }
}

function readTls({
  PLAYHEAD_TLS_CERT: certPath,
  PLAYHEAD_TLS_KEY: keyPath,
}: Readonly<Record<string, string | undefined>>): TlsFiles | undefined | ConfigProblem {
  if (certPath && keyPath) return { certPath: resolve(certPath), keyPath: resolve(keyPath) }
  if (!certPath && !keyPath) return undefined
  const [set, missing] = certPath
    ? ['PLAYHEAD_TLS_CERT', 'PLAYHEAD_TLS_KEY']
    : ['PLAYHEAD_TLS_KEY', 'PLAYHEAD_TLS_CERT']
  return { problem: `${set} is set, but ${missing} is not: TLS needs both a certificate and its key.` }
}

function readOidc(
  environment: Readonly<Record<string, string | undefined>>,
  isAuthOn: boolean,
): Config['oidc'] | ConfigProblem {
  const { PLAYHEAD_OIDC_ISSUER: issuer, PLAYHEAD_OIDC_CLIENT_ID: clientId } = environment
  if (!issuer && !clientId) return undefined
  if (!issuer || !clientId) {
    const [set, missing] = issuer
      ? ['PLAYHEAD_OIDC_ISSUER', 'PLAYHEAD_OIDC_CLIENT_ID']
      : ['PLAYHEAD_OIDC_CLIENT_ID', 'PLAYHEAD_OIDC_ISSUER']
    return { problem: `${set} is set, but ${missing} is not: logging in with a provider needs both.` }
  }
  if (!isAuthOn) return { problem: 'PLAYHEAD_OIDC_ISSUER is set, but auth is off. Set PLAYHEAD_AUTH=on.' }
  const address = URL.canParse(issuer) ? new URL(issuer) : undefined
  if (address?.protocol !== 'https:' && !(address?.protocol === 'http:' && isLoopback(address.hostname)))
    return { problem: `PLAYHEAD_OIDC_ISSUER is "${issuer}"; it must be an https address.` }
  const role = environment.PLAYHEAD_OIDC_DEFAULT_ROLE || 'none'
  if (role !== 'none' && !isRole(role))
    return { problem: `PLAYHEAD_OIDC_DEFAULT_ROLE is "${role}"; it can be none, ${roles.join(' or ')}.` }
  const admins = (environment.PLAYHEAD_OIDC_ADMINS ?? '').split(/[\s,]+/).filter(Boolean)
  return {
    issuer,
    clientId,
    clientSecret: environment.PLAYHEAD_OIDC_CLIENT_SECRET || undefined,
    firstRoles: { admins, everybody: role === 'none' ? undefined : role },
  }
}

function isRole(text: string): text is Role {
  return (roles as readonly string[]).includes(text)
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 0 && port <= 65_535
}

function authProblem(host: string, isAuthOn: boolean, password: string | undefined): string | undefined {
  if (!isAuthOn && !isLoopback(host)) {
    return `PLAYHEAD_AUTH=off is allowed on loopback only, and PLAYHEAD_HOST is ${host}: everyone who can reach this machine could read every session. Leave PLAYHEAD_AUTH unset and set PLAYHEAD_PASSWORD, or set PLAYHEAD_HOST=127.0.0.1.`
  }
  if (isAuthOn && (password === undefined || password.length < 8)) {
    return `Auth is on (PLAYHEAD_HOST is ${host}), so people need a password: set PLAYHEAD_PASSWORD to at least 8 characters. Programs use keys: playhead keys create. For one developer on one machine, leave PLAYHEAD_HOST unset.`
  }
  return undefined
}
