import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Accepts everything in a separate process. Sends its address, then on request the bytes received since the last request. */
let bytes = 0
const server = createServer((request, response) => {
  request.on('data', (chunk: Buffer) => (bytes += chunk.length))
  request.on('end', () => {
    response.setHeader('content-type', 'application/json')
    response.end('{}')
  })
})
server.listen(0, '127.0.0.1', () => {
  process.send!(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
process.on('message', () => {
  process.send!(bytes)
  bytes = 0
})
