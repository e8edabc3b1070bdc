/**
 * Runs ffmpeg on a caller's recording, which may be hostile: it opens no address and no other file,
 * reads the listed containers and codecs only (so no playlist), writes nothing but its output, and
 * is limited in memory and time. It gets none of this process's environment.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, constants } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { delimiter, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import type { Log } from '../../../base/lib/log.ts'
import { SoundFault } from './sound-fault.ts'

export interface Ffmpeg {
  readonly path: string
  /** Path of prlimit, which bounds its memory and processor time; undefined where it is absent. */
  readonly prlimit: string | undefined
}

export interface FfmpegLimits {
  /** Seconds of sound after which the output ends. */
  readonly seconds: number
  readonly processorSeconds: number
  readonly wallMs: number
}

/** Bit rate of the output, which is constant: its bytes state its length exactly. */
const BITS_PER_SECOND = 64_000
export const SOUND_BYTES_PER_SECOND = BITS_PER_SECOND / 8

const ENCODER = 'libmp3lame'
const PROBE_MS = 20_000
const ADDRESS_SPACE_BYTES = 1024 ** 3
const ALLOCATION_BYTES = 200 * 1024 ** 2
const NICENESS = 10
const STDERR_BYTES = 4_096

/** Demuxers of recordings. Those that open further files (hls, dash, concat) are not among them. */
const CONTAINERS =
  'mov matroska flac aac mp3 wav w64 ogg avi flv asf amr aiff caf ape mpegts mpeg'.split(' ')
const CODECS =
  `aac aac_latm alac mp3 mp3float mp2 mp2float mp1 mp1float flac opus libopus vorbis libvorbis ac3
  eac3 amrnb amrwb libopencore_amrnb libopencore_amrwb wmav1 wmav2 wmapro wmalossless wmavoice ape
  pcm_alaw pcm_mulaw pcm_u8 pcm_s8 pcm_s16le pcm_s16be pcm_s24le pcm_s24be pcm_s32le pcm_s32be
  pcm_f32le pcm_f32be pcm_f64le pcm_f64be adpcm_ms adpcm_ima_wav adpcm_ima_qt gsm gsm_ms`.split(
    /\s+/,
  )

/**
 * Finds ffmpeg, by its path or by its name on PATH. Undefined if it is absent, does not run or
 * cannot write MP3; the log says which.
 */
export async function findFfmpeg(name: string, log: Pick<Log, 'info' | 'warn'>) {
  const path = await findProgram(name)
  if (path === undefined) {
    log.info({ reason: name }, 'no ffmpeg: recordings are not converted')
    return undefined
  }
  try {
    const encoders = await promisify(execFile)(path, ['-hide_banner', '-encoders'], {
      timeout: PROBE_MS,
      env: environment(),
    })
    if (!encoders.stdout.includes(ENCODER)) throw new Error(`it has no ${ENCODER}`)
    return { path, prlimit: await findProgram('prlimit') } satisfies Ffmpeg
  } catch (error) {
    log.warn({ reason: path, error }, 'ffmpeg cannot be used: recordings are not converted')
    return undefined
  }
}

async function findProgram(name: string): Promise<string | undefined> {
  const folders = isAbsolute(name) ? [''] : (process.env.PATH ?? '').split(delimiter)
  for (const folder of folders) {
    const path = folder === '' ? name : join(folder, name)
    if (!isAbsolute(path)) continue
    const isProgram = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isProgram) return path
  }
  return undefined
}

/**
 * Only the linker's path is passed on: secrets of this process must not be in a decoder's
 * environment.
 */
function environment(): NodeJS.ProcessEnv {
  const { PATH, LD_LIBRARY_PATH } = process.env
  return {
    NODE_ENV: 'production',
    PATH,
    LD_LIBRARY_PATH,
  }
}

/**
 * Yields the sound of the recording behind the file descriptor as MP3, mono at 16 kHz. Throws
 * SoundFault if it has none or cannot be read in time. The process has ended when this generator
 * has.
 */
export async function* convertToMp3(
  ffmpeg: Ffmpeg,
  descriptor: number,
  limits: FfmpegLimits,
  { signal, log }: { readonly signal: AbortSignal; readonly log: Pick<Log, 'info'> },
): AsyncGenerator<Buffer> {
  signal.throwIfAborted()
  const child = start(ffmpeg, descriptor, limits)
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  // Awaited below; until then, a process that cannot be started must not cause an unhandled
  // rejection.
  ended.catch(() => undefined)
  const kill = () => void child.kill('SIGKILL')
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    kill()
  }, limits.wallMs)
  signal.addEventListener('abort', kill, { once: true })
  const words = collectErrors(child)
  try {
    if (child.stdout) yield* child.stdout as AsyncIterable<Buffer>
    const [code, killedBy] = await ended
    signal.throwIfAborted()
    if (code === 0) return
    log.info({ reason: words(), code, kind: killedBy }, 'ffmpeg did not convert a recording')
    throw explain(words(), isLate || killedBy === 'SIGKILL' || killedBy === 'SIGXCPU')
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', kill)
    kill()
    await ended.catch(() => undefined)
  }
}

function start(
  { path, prlimit }: Ffmpeg,
  descriptor: number,
  { seconds, processorSeconds }: FfmpegLimits,
): ChildProcess {
  const limits = [
    `--as=${ADDRESS_SPACE_BYTES}`,
    `--cpu=${processorSeconds}`,
    '--fsize=0',
    '--nofile=64',
    '--core=0',
  ]
  const input = [
    '-threads 1 -protocol_whitelist file,pipe',
    `-format_whitelist ${CONTAINERS.join(',')}`,
    `-codec_whitelist ${CODECS.join(',')}`,
    // Passes the file itself rather than a pipe, because an MP4's table of contents may be at its
    // end.
    '-i file:/dev/stdin',
  ]
  const output = [
    '-map 0:a:0 -vn -sn -dn -map_metadata -1 -map_chapters -1 -threads 1',
    `-t ${seconds} -ac 1 -ar 16000 -c:a ${ENCODER} -b:a ${BITS_PER_SECOND}`,
    '-write_xing 0 -id3v2_version 0 -f mp3 pipe:1',
  ]
  const common = `-hide_banner -nostdin -nostats -loglevel error -max_alloc ${ALLOCATION_BYTES}`
  const words = [common, ...input, ...output].join(' ').split(' ')
  const [program = path, ...rest] = [...(prlimit ? [prlimit, ...limits, '--'] : []), path, ...words]
  const child = spawn(program, rest, {
    stdio: [descriptor, 'pipe', 'pipe'],
    env: environment(),
    cwd: '/',
  })
  lowerPriority(child.pid)
  return child
}

function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, NICENESS)
  } catch {
    // It has ended already.
  }
}

/** Returns a function for the first words of the process's errors. */
function collectErrors(child: ChildProcess): () => string {
  let words = ''
  child.stderr?.setEncoding('utf8')
  child.stderr?.on('data', (text: string) => {
    words = (words + text).slice(0, STDERR_BYTES)
  })
  return () => words.trim()
}

/**
 * The caller gets one of these sentences, because ffmpeg's own messages contain paths and
 * addresses.
 */
function explain(words: string, isCut: boolean): SoundFault {
  const say = (reason: string) => new SoundFault('not_converted', `the recording ${reason}`)
  if (isCut) return say('takes too long to convert')
  if (/matches no streams/.test(words)) return say('has no sound')
  if (/not on whitelist|Invalid data found|could not find/i.test(words)) {
    return say('is in a format that is not known: convert it to mp3')
  }
  return say('cannot be read: convert it to mp3')
}
