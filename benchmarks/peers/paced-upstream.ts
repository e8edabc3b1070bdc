/**
 * An upstream whose streams have a frame every 20 ms, each with the time at which it was written,
 * so that its receiver can tell how late it is. `node benchmarks/peers/paced-upstream.ts PORT`.
 */
import { createServer } from 'node:http'

const FRAMES = 100
const PACE_MS = 20
const USAGE = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 }
const IDENTITY = { id: 'chatcmpl-paced', created: 1_700_000_000, model: 'sim-chat' }

const write = (value: object) =>
  `data: ${JSON.stringify({ ...IDENTITY, object: 'chat.completion.chunk', ...value })}\n\n`
const now = () => performance.timeOrigin + performance.now()

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const start = performance.now()
    let frame = 0
    const send = () => {
      if (response.destroyed) return
      const delta = { role: 'assistant', content: ` at=${now()} ` }
      response.write(write({ choices: [{ index: 0, delta, finish_reason: null }] }))
      frame += 1
      if (frame < FRAMES) setTimeout(send, start + frame * PACE_MS - performance.now())
      else finish()
    }
    const finish = () => {
      response.write(write({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }))
      response.end(`${write({ choices: [], usage: USAGE })}data: [DONE]\n\n`)
    }
    send()
  })
})

server.listen(Number(process.argv[2]), '127.0.0.1', 16_384, () => console.log('ready'))
