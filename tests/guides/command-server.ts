/**
 * A process in the reader's folder that runs the gateway's commands for the shells of the guides:
 * each in a thread that has its modules, for a process of its own takes half a second to load them.
 * `npx tributary` of the shells asks it over a socket.
 */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { runWith } from '../cli/support.ts'

const [socket = '', home = ''] = process.argv.slice(2)

/** A restore goes to an empty database; one with a folder of its own, to that folder's. */
function environmentOf(words: readonly string[], given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (words[0] !== 'restore') return given
  if (given.DATA_DIR === home) return { ...given, DATABASE_URL: given.EMPTY_DATABASE_URL }
  const { DATABASE_URL: _, ...rest } = given
  return rest
}

const server = createServer(async (request, response) => {
  const form = new URLSearchParams(await text(request))
  const words = form.getAll('word')
  const lines = (form.get('environment') ?? '').split('\n')
  const given = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)))
  const { code, out, err } = await runWith(environmentOf(words, given), words)
  writeFileSync(`${form.get('files')}.out`, out)
  writeFileSync(`${form.get('files')}.err`, err)
  response.end(String(code))
})
server.listen(socket, () => process.stdout.write('listening\n'))
