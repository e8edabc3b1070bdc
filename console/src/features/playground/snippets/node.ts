/** Writes a request for Node: with the SDK of its dialect, else with fetch. */
import { addressOf, type PlaygroundRequest } from '../frame/order.ts'
import { NODE, printLiteral } from './print-literal.ts'
import { answerKindOf, KEY_VARIABLE, type SnippetOptions, soundFileOf } from './snippet.ts'

const KEY = `process.env.${KEY_VARIABLE}`

export function printNode(options: SnippetOptions): string {
  const print = WITH_SDK[options.order.path] ?? printFetch
  return print(options).join('\n')
}

type Printer = (options: SnippetOptions) => readonly string[]

const WITH_SDK: Readonly<Record<string, Printer>> = {
  '/v1/chat/completions': openAi('chat.completions.create', [
    'for await (const chunk of answer) {',
    "  process.stdout.write(chunk.choices[0]?.delta?.content ?? '')",
    '}',
  ]),
  '/v1/responses': openAi('responses.create', [
    'for await (const event of answer) {',
    "  if (event.type === 'response.output_text.delta') process.stdout.write(event.delta)",
    '}',
  ]),
  '/v1/embeddings': openAi('embeddings.create', ['console.log(answer.data[0].embedding.length)']),
  '/v1/images/generations': openAi('images.generate', [
    'for (const [index, image] of answer.data.entries()) {',
    '  if (image.url) console.log(image.url)',
    "  else await writeFile(index + '.png', Buffer.from(image.b64_json, 'base64'))",
    '}',
  ]),
  '/v1/audio/speech': printSpeech,
  '/v1/audio/transcriptions': printTranscription,
  '/v1/messages': printMessages,
}

function clientOf(origin: string): string[] {
  return [
    "import OpenAI from 'openai'",
    '',
    'const client = new OpenAI({',
    `  baseURL: '${origin}/v1',`,
    `  apiKey: ${KEY},`,
    '})',
  ]
}

function openAi(method: string, use: readonly string[]): Printer {
  return ({ order, origin }) => [
    ...(use.some((line) => line.includes('writeFile'))
      ? ["import { writeFile } from 'node:fs/promises'"]
      : []),
    ...clientOf(origin),
    '',
    `const answer = await client.${method}(${printLiteral(order.body, NODE)})`,
    ...use,
  ]
}

function printSpeech({ order, origin }: SnippetOptions): string[] {
  return [
    "import { writeFile } from 'node:fs/promises'",
    ...clientOf(origin),
    '',
    `const answer = await client.audio.speech.create(${printLiteral(order.body, NODE)})`,
    `await writeFile('${soundFileOf(order)}', Buffer.from(await answer.arrayBuffer()))`,
  ]
}

function printTranscription({ order, origin }: SnippetOptions): string[] {
  const fields = printLiteral(order.body, NODE)
    .replace(/^\{/, '')
    .replace(/[\s,]*\}$/, '')
  return [
    "import { createReadStream } from 'node:fs'",
    ...clientOf(origin),
    '',
    'const answer = await client.audio.transcriptions.create({',
    `  file: createReadStream('${order.file?.name ?? 'speech.wav'}'),`,
    `  ${fields.trim()},`,
    '})',
    'console.log(answer.text ?? answer)',
  ]
}

function printMessages({ order, origin }: SnippetOptions): string[] {
  return [
    "import Anthropic from '@anthropic-ai/sdk'",
    '',
    'const client = new Anthropic({',
    `  baseURL: '${origin}',`,
    `  apiKey: ${KEY},`,
    '})',
    '',
    `const answer = await client.messages.create(${printLiteral(order.body, NODE)})`,
    'for await (const event of answer) {',
    "  if (event.delta?.type === 'text_delta') process.stdout.write(event.delta.text)",
    '}',
  ]
}

function printFetch({ order, origin }: SnippetOptions): string[] {
  const form = order.file ? printForm(order) : []
  return [
    ...importsOf(order),
    `const authorization = \`Bearer \${${KEY}}\``,
    ...form,
    `const response = await fetch('${origin}${addressOf(order)}', {`,
    "  method: 'POST',",
    `  headers: { authorization${order.file ? '' : ", 'content-type': 'application/json'"} },`,
    order.file ? '  body: form,' : `  body: JSON.stringify(${printLiteral(order.body, NODE, 2)}),`,
    '})',
    'if (!response.ok) throw new Error(await response.text())',
    ...handle(order, origin),
  ]
}

function importsOf(order: PlaygroundRequest): string[] {
  const kind = answerKindOf(order)
  const writes = kind === 'sound' || kind === 'lines'
  const names = [...(order.file ? ['readFile'] : []), ...(writes ? ['writeFile'] : [])]
  return names.length > 0 ? [`import { ${names.join(', ')} } from 'node:fs/promises'`, ''] : []
}

function printForm({ body, file }: PlaygroundRequest): string[] {
  const name = file?.name ?? 'speech.wav'
  return [
    'const form = new FormData()',
    ...Object.entries(body).map(([field, value]) => {
      return `form.set('${field}', ${printLiteral(String(value), NODE)})`
    }),
    `form.set('file', new Blob([await readFile('${name}')]), '${name}')`,
  ]
}

function handle(order: PlaygroundRequest, origin: string): string[] {
  const file = soundFileOf(order)
  switch (answerKindOf(order)) {
    case 'lines':
      return [
        "const lines = (await response.text()).split('\\n').filter(Boolean).map(JSON.parse)",
        "const sound = lines.map(({ data }) => Buffer.from(data ?? '', 'base64'))",
        `await writeFile('${file}', Buffer.concat(sound))`,
      ]
    case 'sound':
      return [`await writeFile('${file}', Buffer.from(await response.arrayBuffer()))`]
    case 'task':
      return [
        'let task = await response.json()',
        "while (task.status !== 'succeeded' && task.status !== 'failed') {",
        '  await new Promise((resolve) => setTimeout(resolve, 5_000))',
        `  const look = await fetch(\`${origin}${order.path}/\${task.id}\`, {`,
        '    headers: { authorization },',
        '  })',
        '  task = await look.json()',
        '}',
        'console.log(task)',
      ]
    default:
      return ['console.dir(await response.json(), { depth: null })']
  }
}
