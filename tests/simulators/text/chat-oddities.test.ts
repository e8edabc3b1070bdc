// Each oddity must show, and a correct stream must not show it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { chat, dataLines, type Json, KEYS, list, simulated } from '../support.ts'

const sim = simulated()
const PATH = '/openai/v1/chat/completions'
const tools = [{ type: 'function', function: { name: 'Bash' } }]
const TOOL = '[[tool:Bash {"command":"lß"}]]'
const TWO = `${TOOL}[[tool:Bash {"command":"pwd"}]]`
const TEXT = '[[say:one two three]]'
const ALL = `[[reason:think a bit]]${TEXT}${TOOL}`

async function streamed(content: string) {
  const { text } = await sim.post(PATH, KEYS.openai, chat(content, { stream: true, tools }))
  return { text, chunks: dataLines(text) }
}

const choice = (chunk: Json | undefined) => list(chunk?.choices)[0]
const delta = (chunk: Json | undefined) => choice(chunk)?.delta
const entries = (chunks: Json[]) => chunks.flatMap((chunk) => list(delta(chunk)?.tool_calls))
const finishes = (chunks: Json[]) =>
  chunks.map((chunk) => choice(chunk)?.finish_reason).filter((reason) => reason)
const some = (chunks: Json[], holds: (delta: Json) => boolean) =>
  chunks.some((chunk) => delta(chunk) && holds(delta(chunk) as Json))

type Case = [string, string, (chunks: Json[], text: string) => boolean]

const TEXT_CASES: Case[] = [
  ['c_norole', TEXT, (chunks) => !some(chunks, (one) => 'role' in one)],
  ['c_noindex', TEXT, (chunks) => choice(chunks[0])?.index === undefined],
  ['c_nochoices', TEXT, (chunks) => chunks[1]?.choices === undefined],
  ['c_nulldelta', TEXT, (chunks) => delta(chunks[1]) === null],
  ['c_nodelta', TEXT, (chunks) => delta(chunks[1]) === undefined],
  ['c_usageonfinish', TEXT, (chunks) => Boolean(chunks.at(-1)?.usage)],
  ['c_usageevery', TEXT, (chunks) => chunks.every((chunk) => Boolean(chunk.usage))],
  ['c_usagenull', TEXT, (chunks) => chunks[0]?.usage === null],
  ['c_emptyfin', TEXT, (chunks) => String(choice(chunks[0])?.finish_reason) === ''],
  ['c_nofin', TEXT, (chunks) => finishes(chunks).length === 0],
  ['c_twofin', TEXT, (chunks) => finishes(chunks).length === 2],
  ['c_contentafterfin', TEXT, (chunks) => Boolean(delta(chunks.at(-1))?.content)],
  [
    'c_finwithcontent',
    TEXT,
    (chunks) => Boolean(delta(chunks.at(-1))?.content && choice(chunks.at(-1))?.finish_reason),
  ],
  ['c_n2', TEXT, (chunks) => chunks.some((chunk) => Number(choice(chunk)?.index) === 1)],
  ['c_refusal', TEXT, (chunks) => some(chunks, (one) => typeof one.refusal === 'string')],
  ['c_contentarray', TEXT, (chunks) => some(chunks, (one) => Array.isArray(one.content))],
  ['c_reasoning', ALL, (chunks) => some(chunks, (one) => 'reasoning' in one)],
  ['c_reasoningdetails', ALL, (chunks) => some(chunks, (one) => 'reasoning_details' in one)],
  ['c_thinkfield', ALL, (chunks) => some(chunks, (one) => 'thinking' in one)],
  ['c_thinktag', ALL, (_, text) => text.includes('<think>') && text.includes('</think>')],
  ['c_allinone', ALL, (chunks) => some(chunks, (one) => Boolean(one.content && one.tool_calls))],
  [
    'c_textaftertool',
    ALL,
    (chunks) => {
      const last = chunks.findLastIndex((chunk) => Boolean(delta(chunk)?.content))
      return last > chunks.findIndex((chunk) => Boolean(delta(chunk)?.tool_calls))
    },
  ],
  ['c_nodone', TEXT, (_, text) => !text.includes('[DONE]')],
  ['c_donespace', TEXT, (_, text) => text.includes('data:  [DONE] ')],
  ['c_donetwice', TEXT, (_, text) => text.split('[DONE]').length === 3],
  ['c_dataafterdone', TEXT, (_, text) => text.includes(' LATE')],
]

const fn = (entry: Json | undefined) => entry?.function
const TOOL_CASES: Case[] = [
  ['c_toolidrepeat', TOOL, (chunks) => entries(chunks).every((entry) => Boolean(entry.id))],
  ['c_toolemptyid', TOOL, (chunks) => String(entries(chunks)[1]?.id) === ''],
  ['c_toolnullname', TOOL, (chunks) => fn(entries(chunks)[1])?.name === null],
  ['c_toollatename', TOOL, (chunks) => fn(entries(chunks)[0])?.name === undefined],
  ['c_toolnoindex', TOOL, (chunks) => entries(chunks)[0]?.index === undefined],
  ['c_toolidx1', TOOL, (chunks) => Number(entries(chunks)[0]?.index) === 1],
  ['c_toolsameidx', TWO, (chunks) => entries(chunks).every((entry) => Number(entry.index) === 0)],
  ['c_toolnoid', TOOL, (chunks) => !entries(chunks).some((entry) => 'id' in entry)],
  [
    'c_toolsameid',
    TWO,
    (chunks) => {
      const ids = entries(chunks).flatMap((entry) => (entry.id ? [String(entry.id)] : []))
      return new Set(ids).size === 1
    },
  ],
  ['c_tooloddid', TOOL, (chunks) => String(entries(chunks)[0]?.id).endsWith('|a:b.c')],
  ['c_toolcase', TOOL, (chunks) => String(fn(entries(chunks)[0])?.name) === 'bash'],
  ['c_toolargsobj', TOOL, (chunks) => typeof fn(entries(chunks)[0])?.arguments === 'object'],
  ['c_toolwholeargs', TOOL, (chunks) => entries(chunks).length === 1],
  [
    'c_toolemptyargs',
    TOOL,
    (chunks) => entries(chunks).every((entry) => String(fn(entry)?.arguments) === ''),
  ],
  ['c_toolbadargs', TOOL, (chunks) => String(fn(entries(chunks)[0])?.arguments) === '{bad'],
  [
    'c_tooltwoinchunk',
    TOOL,
    (chunks) => chunks.some((chunk) => list(delta(chunk)?.tool_calls).length === 2),
  ],
  [
    'c_toolhalfescape',
    TOOL,
    (chunks) => entries(chunks).some((one) => /\\u\w\w$/.test(String(fn(one)?.arguments))),
  ],
  ['c_legacyfn', TOOL, (chunks) => some(chunks, (one) => 'function_call' in one)],
  ['c_stopwithtools', TOOL, (chunks) => String(finishes(chunks)[0]) === 'stop'],
]

describe('oddities of the chat stream', () => {
  for (const [name, content, holds] of [...TEXT_CASES, ...TOOL_CASES]) {
    test(name, async () => {
      const plain = await streamed(content)
      assert.ok(!holds(plain.chunks, plain.text), 'a correct stream does not show it')
      const odd = await streamed(`${content}[[fault:${name}]]`)
      assert.ok(holds(odd.chunks, odd.text), odd.text)
    })
  }

  test('a split escape still joins to the same arguments', async () => {
    const { chunks } = await streamed(`${TOOL}[[fault:c_toolhalfescape]]`)
    const joined = entries(chunks).map((entry) => String(fn(entry)?.arguments))
    assert.deepEqual(JSON.parse(joined.join('')), { command: 'lß' })
  })

  test('no oddity changes what is billed', async () => {
    for (const [name, content] of [...TEXT_CASES, ...TOOL_CASES]) {
      await streamed(`${content}[[call:plain-${name}]]`)
      await streamed(`${content}[[fault:${name}]][[call:plain-${name}]]`)
      const [plain, odd] = sim.running.book.entries({ marker: `plain-${name}` })
      assert.deepEqual(odd?.units.output_token, plain?.units.output_token, name)
    }
  })
})

describe('oddities of the whole chat completion', () => {
  const cases: [string, string, (choice: Json | undefined) => boolean][] = [
    ['c_contentarray', TEXT, (one) => Array.isArray(one?.message?.content)],
    ['c_refusal', TEXT, (one) => typeof one?.message?.refusal === 'string'],
    ['c_nullcontent', TEXT, (one) => one?.message?.content === null],
    ['c_nofin', TEXT, (one) => one?.finish_reason === null],
    ['c_stopreason', TEXT, (one) => String(one?.stop_reason) === 'END'],
    ['c_toolargsobj', TOOL, (one) => typeof argumentsOf(one) === 'object'],
    ['c_toolemptyargs', TOOL, (one) => String(argumentsOf(one)) === ''],
    ['c_toolbadargs', TOOL, (one) => String(argumentsOf(one)) === '{bad'],
    ['c_toolnoid', TOOL, (one) => list(one?.message?.tool_calls)[0]?.id === undefined],
    ['c_legacyfn', TOOL, (one) => 'function_call' in (one?.message ?? {})],
    ['c_stopwithtools', TOOL, (one) => String(one?.finish_reason) === 'stop'],
  ]
  const argumentsOf = (one: Json | undefined) => fn(list(one?.message?.tool_calls)[0])?.arguments
  for (const [name, content, holds] of cases) {
    test(name, async () => {
      const plain = await sim.post(PATH, KEYS.openai, chat(content, { tools }))
      assert.ok(!holds(choice(plain.json)), 'a correct answer does not show it')
      const odd = await sim.post(PATH, KEYS.openai, chat(`${content}[[fault:${name}]]`, { tools }))
      assert.ok(holds(choice(odd.json)), odd.text)
    })
  }
})
