import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Takes everything and keeps nothing, in a process of its own. Tells its address, then how many bytes came since it was last asked. */
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
