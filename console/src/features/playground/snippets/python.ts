/** Writes a request for Python: with the SDK of its dialect, else with requests. */
import { addressOf, type Fields, type PlaygroundRequest } from '../frame/order.ts'
import { PYTHON, printLiteral } from './print-literal.ts'
import { answerKindOf, KEY_VARIABLE, type SnippetOptions, soundFileOf } from './snippet.ts'

const KEY = `os.environ["${KEY_VARIABLE}"]`

export function printPython(options: SnippetOptions): string {
  const print = WITH_SDK[options.order.path] ?? printRequests
  return print(options).join('\n')
}

type Printer = (options: SnippetOptions) => readonly string[]

const WITH_SDK: Readonly<Record<string, Printer>> = {
  '/v1/chat/completions': openAi('chat.completions.create', [
    'for chunk in answer:',
    '    if chunk.choices:',
    '        print(chunk.choices[0].delta.content or "", end="", flush=True)',
  ]),
  '/v1/responses': openAi('responses.create', [
    'for event in answer:',
    '    if event.type == "response.output_text.delta":',
    '        print(event.delta, end="", flush=True)',
  ]),
  '/v1/embeddings': openAi('embeddings.create', ['print(len(answer.data[0].embedding))']),
  '/v1/images/generations': openAi('images.generate', [
    'for index, image in enumerate(answer.data):',
    '    if image.url:',
    '        print(image.url)',
    '    else:',
    '        with open(f"image-{index}.png", "wb") as file:',
    '            file.write(base64.b64decode(image.b64_json))',
  ]),
  '/v1/audio/speech': printSpeech,
  '/v1/audio/transcriptions': openAi('audio.transcriptions.create', ['print(answer)']),
  '/v1/messages': printMessages,
}

/** Fields that the SDK's methods do not name go into `extra_body`. */
const OWN_FIELDS: Readonly<Record<string, readonly string[]>> = {
  '/v1/images/generations': ['model', 'prompt', 'n', 'size', 'quality', 'response_format'],
}

function clientOf(origin: string, modules: readonly string[] = []): string[] {
  return [
    ...[...modules, 'os'].map((name) => `import ${name}`),
    '',
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url="${origin}/v1", api_key=${KEY})`,
  ]
}

function openAi(method: string, use: readonly string[]): Printer {
  return ({ order, origin }) => [
    ...clientOf(origin, use.some((line) => line.includes('base64')) ? ['base64'] : []),
    '',
    `answer = client.${method}(`,
    ...(order.file ? [`    file=open("${order.file.name}", "rb"),`] : []),
    ...printArguments(order),
    ')',
    ...use,
  ]
}

function printArguments({ path, body }: PlaygroundRequest): string[] {
  const own = OWN_FIELDS[path]
  const isOwn = ([name]: [string, unknown]) => !own || own.includes(name)
  const entries = Object.entries(body)
  const others: Fields = Object.fromEntries(entries.filter((entry) => !isOwn(entry)))
  return [
    ...entries.filter(isOwn).map(([name, value]) => printArgument(name, value)),
    ...(Object.keys(others).length > 0 ? [printArgument('extra_body', others)] : []),
  ]
}

function printArgument(name: string, value: Fields[string]): string {
  return `    ${name}=${printLiteral(value ?? null, PYTHON, 4)},`
}

function printSpeech({ order, origin }: SnippetOptions): string[] {
  return [
    ...clientOf(origin),
    '',
    'with client.audio.speech.with_streaming_response.create(',
    ...printArguments(order),
    ') as answer:',
    `    answer.stream_to_file("${soundFileOf(order)}")`,
  ]
}

function printMessages({ order, origin }: SnippetOptions): string[] {
  const { stream: _stream, ...body } = order.body
  return [
    'import os',
    '',
    'from anthropic import Anthropic',
    '',
    `client = Anthropic(base_url="${origin}", api_key=${KEY})`,
    '',
    'with client.messages.stream(',
    ...printArguments({ ...order, body }),
    ') as answer:',
    '    for text in answer.text_stream:',
    '        print(text, end="", flush=True)',
  ]
}

function printRequests({ order, origin }: SnippetOptions): string[] {
  const kind = answerKindOf(order)
  const { file, body } = order
  const modules = [
    ...(kind === 'lines' ? ['base64', 'json'] : []),
    'os',
    ...(kind === 'task' ? ['time'] : []),
  ]
  return [
    ...modules.map((name) => `import ${name}`),
    '',
    'import requests',
    '',
    `headers = {"Authorization": f"Bearer {${KEY.replaceAll('"', "'")}}"}`,
    'response = requests.post(',
    `    "${origin}${addressOf(order)}",`,
    '    headers=headers,',
    ...(file
      ? [printArgument('data', body), `    files={"file": open("${file.name}", "rb")},`]
      : [printArgument('json', body)]),
    ...(kind === 'lines' || kind === 'sound' ? ['    stream=True,'] : []),
    ')',
    'response.raise_for_status()',
    ...handle(order, origin),
  ]
}

function handle(order: PlaygroundRequest, origin: string): string[] {
  const file = soundFileOf(order)
  switch (answerKindOf(order)) {
    case 'lines':
      return [
        `with open("${file}", "wb") as file:`,
        '    for line in response.iter_lines():',
        '        if line:',
        '            file.write(base64.b64decode(json.loads(line).get("data") or ""))',
      ]
    case 'sound':
      return [
        `with open("${file}", "wb") as file:`,
        '    for part in response.iter_content(65536):',
        '        file.write(part)',
      ]
    case 'task':
      return [
        'task = response.json()',
        'while task["status"] not in ("succeeded", "failed"):',
        '    time.sleep(5)',
        `    look = requests.get(f"${origin}${order.path}/{task['id']}", headers=headers)`,
        '    task = look.json()',
        'print(task)',
      ]
    default:
      return ['print(response.json())']
  }
}
