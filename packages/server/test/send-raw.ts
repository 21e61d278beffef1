import { connect } from 'node:net'

/** Writes bytes to a server as no HTTP client would; answers with all that comes until the server hangs up. */
export function sendRaw({ url }: { url: string }, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text))
    socket.on('data', (chunk) => (answer += chunk.toString()))
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}
