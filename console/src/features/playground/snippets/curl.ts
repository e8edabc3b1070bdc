/** Writes a request as a curl command, quoted so that shells expand nothing. */
import { addressOf } from '../frame/order.ts'
import { answerKindOf, KEY_VARIABLE, type SnippetOptions, soundFileOf } from './snippet.ts'

export function printCurl({ order, origin }: SnippetOptions): string {
  const { body, file, headers = {} } = order
  const kind = answerKindOf(order)
  const named = Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`)
  const content = file
    ? [
        ...Object.entries(body).map(
          ([name, value]) => `--form-string ${quote(`${name}=${value}`)}`,
        ),
        `-F ${quote(`file=@${file.name}`)}`,
      ]
    : ["-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body, null, 2))}`]
  const parts = [
    `curl ${kind === 'json' || kind === 'task' ? '' : '-N '}${quote(origin + addressOf(order))}`,
    `-H "Authorization: Bearer $${KEY_VARIABLE}"`,
    ...named,
    ...content,
    ...(kind === 'sound' ? [`-o ${soundFileOf(order)}`] : []),
  ]
  return parts.join(' \\\n  ')
}

/** Quotes a text: a single quote closes the quoting, is escaped, and opens it again. */
function quote(text: string): string {
  return /^[\w:/.,?=&%-]+$/.test(text) && !/[?&]/.test(text)
    ? text
    : `'${text.replaceAll("'", "'\\''")}'`
}
