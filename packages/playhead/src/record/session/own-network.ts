/** Host names that end so are never on the internet. */
const privateEndings = ['.local', '.internal', '.lan', '.home.arpa', '.localhost', '.svc', '.cluster.local']

/** True for hosts that belong to whoever runs this process: the machine itself, private addresses and names without a domain. */
export function isInOwnNetwork(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/^\[|\]$/g, '')
  if (host === 'localhost' || privateEndings.some((ending) => host.endsWith(ending))) return true
  if (host.includes(':')) return host === '::1' || /^f[cd]|^fe80:/.test(host)
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host))
    return /^(?:127|10)\.|^192\.168\.|^169\.254\.|^172\.(?:1[6-9]|2\d|3[01])\./.test(host)
  return !host.includes('.')
}
