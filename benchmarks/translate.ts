/**
 * Measures the cost of translating a 200 KB tool-heavy conversation from the messages format to the
 * chat format, and memory growth over 10,000 of them. The goal is 5 ms of CPU at the median for
 * everything: parse, translate, encode.
 */

import { isObject, tryParseJson } from '../server/base/lib/json.ts'
import { DEFAULT_CHAT_QUIRKS } from '../server/wire/dialects/chat/quirks.ts'
import { translateMessageRequest } from '../server/wire/dialects/messages-over-chat/request.ts'
import { buildConversation } from '../testbed/conversation.ts'
import { median, quantile, readConditions, report, round } from '../testbed/results.ts'

const BODY_BYTES = 200_000
const WARM_UP = 100
const REPETITIONS = 500
const MEMORY_REPETITIONS = 10_000
const GOAL_MS = 5
const OPTIONS = { upstreamModel: 'vendor-model', stream: true, quirks: DEFAULT_CHAT_QUIRKS }

const body = buildConversation(BODY_BYTES)

function parse(): Readonly<Record<string, unknown>> {
  const request = tryParseJson(body)
  if (!isObject(request)) throw new Error('the conversation is no object')
  return request
}

function translateWhole(): number {
  return translateMessageRequest(parse(), OPTIONS).body.length
}

function cpuMs(run: () => unknown): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

function measure(run: () => unknown): number[] {
  for (let count = 0; count < WARM_UP; count += 1) run()
  return Array.from({ length: REPETITIONS }, () => cpuMs(run))
}

function heapMegabytes(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1024 ** 2
}

const request = parse()
const whole = measure(translateWhole)
const alone = measure(() => translateMessageRequest(request, OPTIONS))
const before = heapMegabytes()
for (let count = 0; count < MEMORY_REPETITIONS; count += 1)
  translateMessageRequest(request, OPTIONS)
const grownMegabytes = round(heapMegabytes() - before)

const result = {
  bodyBytes: body.length,
  wholeMs: { median: round(median(whole)), p99: round(quantile(whole, 0.99)) },
  translateAndEncodeMs: { median: round(median(alone)), p99: round(quantile(alone, 0.99)) },
  heapGrownMegabytes: globalThis.gc ? grownMegabytes : null,
  goalMs: GOAL_MS,
}
report('translate', readConditions('node --expose-gc benchmarks/translate.ts'), result, [
  `A conversation of ${body.length} bytes, messages to chat, CPU per request:`,
  `parse, translate, encode: ${result.wholeMs.median} ms median, ${result.wholeMs.p99} ms p99`,
  `translate and encode:     ${result.translateAndEncodeMs.median} ms median`,
  `heap after ${MEMORY_REPETITIONS} more: ` +
    (globalThis.gc ? `${grownMegabytes} MB more` : 'not asked (--expose-gc)'),
  median(whole) <= GOAL_MS ? `within the goal of ${GOAL_MS} ms` : `OVER the goal of ${GOAL_MS} ms`,
])
if (median(whole) > GOAL_MS) process.exitCode = 1
