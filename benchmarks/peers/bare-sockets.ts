/**
 * Holds two sockets per call and nothing else: each request opens a WebSocket to the vendor and
 * stays open. Only `GET /ready` is answered.
 */
import { createServer } from 'node:http'
import WebSocket from 'ws'

const [vendorUrl = '', port = '0'] = process.argv.slice(2)
const held = new Set<WebSocket>()

const server = createServer((request, response) => {
  if (request.url === '/ready') {
    response.end()
    return
  }
  request.resume()
  request.on('end', () => {
    const socket = new WebSocket(vendorUrl, { perMessageDeflate: false })
    held.add(socket)
    socket.on('message', (data) => response.write(data.toString()))
    socket.on('error', () => undefined)
    socket.on('close', () => held.delete(socket))
    socket.on('open', () => response.writeHead(200).write('open'))
    response.on('close', () => socket.terminate())
  })
})
server.listen(Number(port), '127.0.0.1')
