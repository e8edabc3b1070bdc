/** Plays audio while it arrives, in browsers that can play a growing file. */
import { useEffect, useState } from 'react'

export type AudioParts = readonly Uint8Array<ArrayBuffer>[]

/** Returns true if a file of this kind can be played before it is complete. */
export function canPlayGrowing(type: string): boolean {
  return 'MediaSource' in globalThis && MediaSource.isTypeSupported(type)
}

interface StreamPlayerProps {
  readonly parts: AudioParts
  readonly isWhole: boolean
  readonly type: string
  readonly label: string
  /** The received bytes cannot be played this way. */
  readonly onFail: () => void
}

export function StreamPlayer({ parts, isWhole, type, label, onFail }: StreamPlayerProps) {
  const feed = useFeed(type)
  useEffect(() => feed?.take(parts, isWhole), [feed, parts, isWhole])
  if (!feed) return null
  return (
    // biome-ignore lint/a11y/useMediaCaption: the text stands beside it
    <audio
      src={feed.url}
      controls
      autoPlay
      aria-label={label}
      onError={onFail}
      style={{ width: '100%' }}
    />
  )
}

interface Feed {
  readonly url: string
  /** Appends the parts that were not appended before. */
  take(parts: AudioParts, isWhole: boolean): void
  close(): void
}

function useFeed(type: string): Feed | undefined {
  const [feed, setFeed] = useState<Feed>()
  useEffect(() => {
    const newFeed = openFeed(type)
    setFeed(newFeed)
    return () => newFeed.close()
  }, [type])
  return feed
}

function openFeed(type: string): Feed {
  const source = new MediaSource()
  const url = URL.createObjectURL(source)
  let known: AudioParts = []
  let isWhole = false
  let appended = 0
  /** Appends one part at a time: the buffer signals when it is ready. */
  function pump(): void {
    const [buffer] = source.sourceBuffers
    if (source.readyState !== 'open' || !buffer || buffer.updating) return
    const part = known[appended]
    if (part) {
      appended += 1
      buffer.appendBuffer(part)
    } else if (isWhole && appended > 0) source.endOfStream()
  }
  source.addEventListener('sourceopen', () => {
    if (source.sourceBuffers.length > 0) return
    source.addSourceBuffer(type).addEventListener('updateend', pump)
    pump()
  })
  return {
    url,
    take(parts, whole) {
      known = parts
      isWhole = whole
      pump()
    },
    close: () => URL.revokeObjectURL(url),
  }
}
