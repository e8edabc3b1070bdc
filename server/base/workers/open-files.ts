/** Tells operators of a process that may open few files: each connection is one of them. */
import { readFileSync } from 'node:fs'
import type { Log } from '../lib/log.ts'

/** Beside connections: the database, files of calls, modules. */
const OTHERS = 200
/** A call has the caller's connection and the vendor's. */
const FILES_PER_CALL = 2
/** Enough for any machine that was set up for a server. */
const FILES_MIN = 8_192

/** The soft limit, which Node has raised to the hard one. Linux alone states it in a file. */
const LIMITS_PATH = '/proc/self/limits'

/** Logs one line if the process may open so few files that `callsMax` calls cannot run at once. */
export function tellOfFewFiles(
  { callsMax }: { readonly callsMax: number },
  log: Pick<Log, 'warn'>,
) {
  const files = readFilesMax()
  if (files === undefined || files >= Math.min(FILES_MIN, callsMax * FILES_PER_CALL + OTHERS))
    return
  const calls = Math.max(0, Math.floor((files - OTHERS) / FILES_PER_CALL))
  log.warn(
    { count: files },
    `no more than about ${calls} calls can run at once: this process may open ${files} files and ` +
      'connections. Raise its hard limit (`ulimit -Hn`; LimitNOFILE of systemd, ulimits of ' +
      'Compose), or lower CALLS_MAX',
  )
}

function readFilesMax(): number | undefined {
  try {
    const [, files] = /^Max open files\s+(\d+)/m.exec(readFileSync(LIMITS_PATH, 'utf8')) ?? []
    return files === undefined ? undefined : Number(files)
  } catch {
    return undefined
  }
}
