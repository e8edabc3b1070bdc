/** Records from the microphone until stopped or unmounted. */
import { useEffect, useRef, useState } from 'react'

/** `blocked`: denied by the user or the browser; `missing`: no device, or an insecure address. */
export type MicrophoneProblem = 'blocked' | 'missing'

const TICK_MS = 250

export function useRecorder(onDone: (sound: Blob) => void) {
  const [seconds, setSeconds] = useState<number>()
  const [problem, setProblem] = useState<MicrophoneProblem>()
  const recorder = useRef<MediaRecorder>(undefined)
  // The current start; a later start or unmounting invalidates it.
  const latest = useRef<symbol>(undefined)
  useEffect(
    () => () => {
      latest.current = undefined
      recorder.current?.stop()
    },
    [],
  )
  const isRecording = seconds !== undefined
  useEffect(() => {
    if (!isRecording) return undefined
    const startedAt = performance.now()
    const timer = setInterval(() => setSeconds((performance.now() - startedAt) / 1_000), TICK_MS)
    return () => clearInterval(timer)
  }, [isRecording])
  async function start(): Promise<void> {
    setProblem(undefined)
    const attempt = Symbol('start')
    latest.current = attempt
    try {
      const stream = await openMicrophone()
      if (latest.current !== attempt) {
        closeMicrophone(stream)
        return
      }
      recorder.current = record(stream, (sound) => {
        recorder.current = undefined
        setSeconds(undefined)
        onDone(sound)
      })
      setSeconds(0)
    } catch (error) {
      const isBlocked = error instanceof DOMException && error.name === 'NotAllowedError'
      setProblem(isBlocked ? 'blocked' : 'missing')
    }
  }
  return { seconds, isRecording, problem, start, stop: () => recorder.current?.stop() }
}

async function openMicrophone(): Promise<MediaStream> {
  // Browsers hide microphones from insecure addresses.
  if (!('mediaDevices' in navigator)) throw new Error('no microphone here')
  return navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } })
}

function closeMicrophone(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop()
}

function record(stream: MediaStream, onDone: (sound: Blob) => void): MediaRecorder {
  const recorder = new MediaRecorder(stream)
  const parts: Blob[] = []
  recorder.addEventListener('dataavailable', ({ data }) => parts.push(data))
  recorder.addEventListener('stop', () => {
    closeMicrophone(stream)
    onDone(new Blob(parts, { type: recorder.mimeType }))
  })
  recorder.start()
  return recorder
}
