/**
 * Measures the CPU cost of a stream of 100 chunks in the gateway, passed through and translated,
 * against a bare proxy in the same run. Processor time of the server's process alone, in turns,
 * with the ledger on.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'
import { Agent } from 'undici'
import { openLaboratory } from '../testbed/laboratory.ts'
import { findPostmaster } from '../testbed/postmaster.ts'
import { readCpuSeconds } from '../testbed/proc.ts'
import { median, readConditions, report, round, table } from '../testbed/results.ts'
import { startProcess } from '../tests/support/processes.ts'
import { until } from '../tests/support/until.ts'

const [, , bareOrigin] = process.argv
const ROUNDS = 5
const STREAMS = 300
const CONCURRENT = 32
const WORDS = '[[chunks:100]] [[tokens:200]]'

interface Target {
  readonly name: string
  readonly goal: number
  readonly url: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly model: string
  readonly cpu: () => number
  readonly samples: number[]
}

if (bareOrigin === undefined) await compare()
else await startBare(bareOrigin)

/** Starts the simplest possible proxy in Node, as the baseline. */
async function startBare(origin: string): Promise<void> {
  const agent = new Agent({ connections: 256, pipelining: 1 })
  const server = createServer(async (request, response) => {
    const { authorization = '' } = request.headers
    const headers = { 'content-type': 'application/json', authorization }
    const path = `/openai${request.url}`
    const answer = await agent.request({ origin, path, method: 'POST', headers, body: request })
    response.writeHead(answer.statusCode, { 'content-type': 'text/event-stream' })
    pipeline(answer.body, response, () => undefined)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  console.log(`port ${(server.address() as AddressInfo).port}`)
}

async function compare(): Promise<void> {
  const laboratory = await openLaboratory({
    simulatorArguments: ['--fast', '--chunk-delay', '2'],
  })
  const gateway = await laboratory.startGateway()
  const { url: upstream } = laboratory.simulators
  const bare = await startProcess([process.execPath, import.meta.filename, upstream])
  try {
    const port = await until('the bare proxy', () => /port (\d+)/.exec(bare.log())?.[1])
    const postmaster = findPostmaster(laboratory.dataDir)
    const key = laboratory.keys[0]?.key
    const gatewayTarget = {
      url: gateway.url,
      headers: { authorization: `Bearer ${key}`, 'anthropic-version': '2023-06-01' },
      cpu: () => readCpuSeconds(gateway.pid, postmaster),
    }
    const chat = '/v1/chat/completions'
    const messages = '/v1/messages'
    const targets: Target[] = [
      {
        name: 'bare proxy, chat',
        goal: 1,
        url: `http://127.0.0.1:${port}`,
        headers: { authorization: 'Bearer sim-openai-key' },
        cpu: () => readCpuSeconds(bare.pid),
        path: chat,
        model: 'sim-chat',
        samples: [],
      },
      { name: 'chat', goal: 1.15, ...gatewayTarget, path: chat, model: 'sim-chat', samples: [] },
      {
        name: 'messages',
        goal: 1.15,
        ...gatewayTarget,
        path: messages,
        model: 'sim-claude',
        samples: [],
      },
      {
        name: 'messages over chat',
        goal: 2,
        ...gatewayTarget,
        path: messages,
        model: 'sim-chat',
        samples: [],
      },
      {
        name: 'chat over messages',
        goal: 2,
        ...gatewayTarget,
        path: chat,
        model: 'sim-claude',
        samples: [],
      },
    ]
    for (const target of targets) await measure(target)
    for (let turn = 0; turn < ROUNDS; turn += 1) {
      for (const target of targets) target.samples.push(await measure(target))
    }
    finish(targets)
  } finally {
    await bare.stop(2_000)
    await gateway.stop()
    await laboratory.close()
  }
}

/** Returns the processor time per stream in milliseconds. */
async function measure(target: Target): Promise<number> {
  const agent = new Agent({ connections: CONCURRENT, pipelining: 1 })
  const body = JSON.stringify({
    model: target.model,
    stream: true,
    max_tokens: 400,
    ...(target.path.endsWith('completions') ? { stream_options: { include_usage: true } } : {}),
    messages: [{ role: 'user', content: WORDS }],
  })
  let remaining = STREAMS
  const before = target.cpu()
  async function work(): Promise<void> {
    while (remaining > 0) {
      remaining -= 1
      const answer = await agent.request({
        origin: target.url,
        path: target.path,
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...target.headers },
      })
      const text = await answer.body.text()
      const whole = text.includes('[DONE]') || text.includes('message_stop')
      if (!whole) throw new Error(`${target.name}: ${answer.statusCode} ${text.slice(-300)}`)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT }, work))
  const used = target.cpu() - before
  await agent.close()
  return (used * 1_000) / STREAMS
}

function finish(targets: readonly Target[]): void {
  const base = median(targets[0]?.samples ?? [])
  const figures = targets.map(({ name, goal, samples }) => {
    const milliseconds = round(median(samples))
    return { name, milliseconds, ratio: round(median(samples) / base), goal, samples }
  })
  const rows = figures.map(({ name, milliseconds, ratio, goal }) => [
    name,
    milliseconds,
    ratio,
    goal,
    ratio <= goal ? 'met' : 'missed',
  ])
  report('passthrough', readConditions('node benchmarks/passthrough.ts'), { figures }, [
    `CPU per stream of 100 chunks, ${CONCURRENT} at once, medians of ${ROUNDS}, in turns.`,
    '',
    ...table([['', 'ms', 'ratio', 'goal', ''], ...rows]),
  ])
}
