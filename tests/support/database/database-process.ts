/**
 * A process that opens the database the way the gateway (`owner`) or a command (`command`) does,
 * says so on its standard output, and closes it when told to. Tests kill it at any moment.
 */
import { openDatabase } from '../../../server/base/database/open.ts'
import { DatabaseProblem } from '../../../server/base/database/problem.ts'

const [dataDir = '', role] = process.argv.slice(2)

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

try {
  const database = await openDatabase({
    dataDir,
    owner: role === 'owner',
    onProgress: (progress) => say({ progress }),
    onTrouble: (error, trouble) => say({ trouble, why: error instanceof Error && error.message }),
  })
  const [row] = await database.sql<{ started: string }[]>`
    select pg_postmaster_start_time()::text as started`
  say({ ready: row?.started })
  process.stdin.resume()
  process.stdin.once('end', async () => {
    await database.stop()
    process.exit(0)
  })
} catch (error) {
  say({ refused: error instanceof DatabaseProblem ? error.message : String(error) })
  process.exit(2)
}
