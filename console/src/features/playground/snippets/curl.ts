/** A request for the shell: quoted so that no shell reads anything into it. */
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

/** A single quote ends the quoting, stands escaped, and begins it again. */
function quote(text: string): string {
  return /^[\w:/.,?=&%-]+$/.test(text) && !/[?&]/.test(text)
    ? text
    : `'${text.replaceAll("'", "'\\''")}'`
}
