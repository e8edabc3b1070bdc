/** The parts of the playground that need no browser: texts, code, results, and wav files. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  parseProse,
  parseSpans,
} from '../../../console/src/features/playground/chat/parse-prose.ts'
import { readResults } from '../../../console/src/features/playground/search/read-results.ts'
import { printCurl } from '../../../console/src/features/playground/snippets/curl.ts'
import { printNode } from '../../../console/src/features/playground/snippets/node.ts'
import {
  NODE,
  PYTHON,
  printLiteral,
} from '../../../console/src/features/playground/snippets/print-literal.ts'
import { printPython } from '../../../console/src/features/playground/snippets/python.ts'
import { encodeWav } from '../../../console/src/features/playground/sound/encode-wav.ts'
import { onlyTaken } from '../../../console/src/features/playground/video/taken.ts'
import { createWavReader } from '../../../server/wire/dialects/interpretation/read-wav.ts'

test('an answer is parted into paragraphs, headings, lists and code', () => {
  const text = 'Rivers:\nall of them\n\n1. Nile\n2. **Niger**\n\n## Code\n```js\nlet a = `1`\n\n'
  assert.deepEqual(parseProse(text), [
    { kind: 'text', text: 'Rivers:\nall of them' },
    { kind: 'list', isOrdered: true, items: ['Nile', '**Niger**'] },
    { kind: 'heading', text: 'Code' },
    { kind: 'code', text: 'let a = `1`\n\n' },
  ])
  assert.deepEqual(parseProse('a\n\nb - c'), [
    { kind: 'text', text: 'a' },
    { kind: 'text', text: 'b - c' },
  ])
})

test('what is not closed, and what is no Markdown, stays text', () => {
  assert.deepEqual(parseSpans('a **b** `c` **d `'), [
    { kind: 'plain', text: 'a ' },
    { kind: 'strong', text: 'b' },
    { kind: 'plain', text: ' ' },
    { kind: 'code', text: 'c' },
    { kind: 'plain', text: ' **d `' },
  ])
  assert.deepEqual(parseSpans('2 ** 3 <b>&amp;</b>'), [
    { kind: 'plain', text: '2 ** 3 <b>&amp;</b>' },
  ])
})

test('literals mean in their language what the JSON meant', () => {
  const value = { a: [true, null, 1.5], 'b-c': `it's "x"`, d: { e: 'f'.repeat(80) } }
  const evaluated: unknown = new Function(`return ${printLiteral(value, NODE)}`)()
  assert.deepEqual(evaluated, value)
  const python = printLiteral(value, PYTHON)
  assert.match(python, /"a": \[True, None, 1\.5\]/)
  assert.match(python, /"b-c": "it's \\"x\\""/)
})

test('no code holds a key, and every code names the variable for one', () => {
  const order = { path: '/v1/search', body: { Query: 'rivers' } }
  const options = { order, origin: 'https://gateway.example' }
  for (const print of [printCurl, printNode, printPython]) {
    const code = print(options)
    assert.match(code, /TRIBUTARY_KEY/)
    assert.match(code, /https:\/\/gateway\.example\/v1\/search/)
  }
})

test('results of both products become cards; a link that is none is left out', () => {
  const web = { Title: 'T', Url: 'https://a.example/x', SiteName: 'A', Snippet: 'S' }
  const global = {
    Title: 'G',
    Url: 'javascript:alert(1)',
    HostInfo: { Hostname: 'b.example' },
    Snippet: [{ Type: 'text', Text: 'one' }, { Type: 'image' }, { Type: 'text', Text: 'two' }],
    DocumentInfo: { PublishTime: '2026-04-02T08:00:00Z' },
  }
  assert.deepEqual(readResults({ Result: { WebResults: [web], Documents: [global] } }).found, [
    { title: 'T', url: 'https://a.example/x', site: 'A', text: 'S', published: '' },
    { title: 'G', url: '', site: 'b.example', text: 'one two', published: '2026-04-02' },
  ])
  for (const odd of [null, 'text', { Result: null }, { Result: { WebResults: {} } }]) {
    assert.deepEqual(readResults(odd).found, [])
  }
})

test('a value is sent if it is one of the model’s, the length that it chooses included', () => {
  const model = { fields: [{ name: 'duration', values: [5, 10], also: -1 }] }
  const taken = [5, '10', -1, 6, undefined].map((value) => onlyTaken(model, 'duration', value))
  assert.deepEqual(taken, [5, '10', -1, undefined, undefined])
  assert.equal(onlyTaken(model, 'seed', 1), undefined)
})

test('a wav file that is made here is of the kind that interpretation takes', () => {
  const wav = encodeWav(Float32Array.from([0, 1, -1, 2, 0.5]))
  const reader = createWavReader('file', 60)
  reader.push(wav)
  assert.deepEqual(reader.end(), { start: 44, bytes: 10 })
  const samples = [...new Int16Array(wav.buffer, 44)]
  assert.deepEqual(samples, [0, 32_767, -32_767, 32_767, 16_384])
})
