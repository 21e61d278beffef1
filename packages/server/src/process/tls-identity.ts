import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { KnownError } from '../errors/known-error.ts'
import type { TlsPair, TlsSource } from '../ingest/grpc/start-grpc.ts'

export type TlsFiles = { certPath: string; keyPath: string }

/** Renewal tools replace files in many ways (rename, symbolic link, rewrite), all of which a look at them finds. */
const LOOK_EVERY_MS = 1_000
/** A tool replaces one file after the other; a pair that does not fit for this many looks is a problem. */
const PATIENT_LOOKS = 5

/** The certificate and key of the server, read again when their files change. Open connections keep the old ones. */
export function openTls(files: TlsFiles, report: (line: string) => void): TlsSource & { close(): void } {
  const listeners: ((pair: TlsPair) => void)[] = []
  let seen = fingerprint(files)
  let current = readPair(files)
  warnIfExpired(current, files, report)
  let problem: string | undefined
  let looksAtProblem = 0
  const look = () => {
    const found = fingerprint(files)
    if (found === seen) {
      if (problem !== undefined && ++looksAtProblem === PATIENT_LOOKS)
        report(`The server goes on with its current certificate. ${problem}`)
      return
    }
    ;[seen, problem, looksAtProblem] = [found, undefined, 0]
    try {
      current = readPair(files)
    } catch (error) {
      problem = (error as Error).message
      return
    }
    for (const listener of listeners) listener(current)
    report(`The server uses the renewed certificate ${files.certPath}, ${describeValidity(current)}.`)
  }
  const timer = setInterval(look, LOOK_EVERY_MS).unref()
  return {
    current: () => current,
    onRenewed: (listener) => void listeners.push(listener),
    close: () => clearInterval(timer),
  }
}

function fingerprint({ certPath, keyPath }: TlsFiles): string {
  return [certPath, keyPath]
    .map((path) => {
      const found = statSync(path, { throwIfNoEntry: false, bigint: true })
      return found === undefined ? 'missing' : `${found.ino} ${found.mtimeNs} ${found.size}`
    })
    .join()
}

function readPair({ certPath, keyPath }: TlsFiles): TlsPair {
  const pair = {
    cert: readSetting('PLAYHEAD_TLS_CERT', certPath),
    key: readSetting('PLAYHEAD_TLS_KEY', keyPath),
  }
  const certificate = parseCertificate(pair.cert, certPath)
  if (!certificate.checkPrivateKey(parseKey(pair.key, keyPath))) {
    throw unusable(
      `The key ${keyPath} (PLAYHEAD_TLS_KEY) does not belong to the certificate ${certPath} (PLAYHEAD_TLS_CERT). Set both to the same pair; if the file holds a chain, the server's own certificate comes first.`,
    )
  }
  try {
    createSecureContext(pair)
  } catch (error) {
    throw unusable(`The certificate ${certPath} can't be used: ${(error as Error).message}.`, error)
  }
  return pair
}

function readSetting(name: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    const problem = fileProblems[code] ?? `can't be read (${code})`
    throw unusable(`${name} is ${path}, which ${problem}.`, error)
  }
}

const fileProblems: Record<string, string> = {
  ENOENT: 'does not exist',
  EACCES: 'this user may not read',
  EPERM: 'this user may not read',
  EISDIR: 'is a folder, not a file',
}

function parseCertificate(content: Buffer, path: string): X509Certificate {
  try {
    return new X509Certificate(content)
  } catch (error) {
    throw unusable(`PLAYHEAD_TLS_CERT is ${path}, which contains no certificate in PEM format.`, error)
  }
}

function parseKey(content: Buffer, path: string): KeyObject {
  try {
    return createPrivateKey(content)
  } catch (error) {
    if (content.includes('ENCRYPTED')) {
      throw unusable(
        `The key ${path} (PLAYHEAD_TLS_KEY) needs a passphrase. Write it without one: openssl pkey -in ${path} -out key.pem`,
        error,
      )
    }
    throw unusable(`PLAYHEAD_TLS_KEY is ${path}, which contains no private key in PEM format.`, error)
  }
}

function warnIfExpired(pair: TlsPair, { certPath }: TlsFiles, report: (line: string) => void): void {
  const { validToDate } = new X509Certificate(pair.cert)
  if (validToDate.getTime() < Date.now())
    report(`The certificate ${certPath} is ${describeValidity(pair)}: clients will refuse it. Renew it.`)
}

function describeValidity({ cert }: TlsPair): string {
  return `valid until ${new X509Certificate(cert).validToDate.toISOString().slice(0, 10)}`
}

function unusable(message: string, cause?: unknown): KnownError {
  return new KnownError('TLS_UNUSABLE', message, { cause })
}
