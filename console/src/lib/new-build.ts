/**
 * Notices that the gateway serves another build of the console than this tab runs. The tab reloads
 * itself once, or shows that it should where somebody is typing.
 */
import { useSyncExternalStore } from 'react'
import { askGateway, whenOnline } from './connection.ts'

const SCRIPTS = /<script type="module"[^>]* src="([^"]+)"/g
const CHECK_EVERY_MS = 300_000
const RELOADED_FOR = 'tributary.reloadedFor'
const RELOADED_AT = 'tributary.reloadedAt'
const RELOAD_AGAIN_MS = 10_000

let isOutdated = false
/** The page on which somebody has typed. */
let typedOn: string | undefined
const listeners = new Set<() => void>()

/** Starts to check: regularly, and whenever the tab becomes visible. */
export function watchBuild(): void {
  document.addEventListener('input', () => {
    typedOn = location.pathname
  })
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void checkBuild()
  })
  setInterval(() => void checkBuild(), CHECK_EVERY_MS)
}

/** Compares this tab's build with the one that the gateway serves. */
export async function checkBuild(): Promise<void> {
  const scripts = document.querySelectorAll('script[type=module][src]')
  // All of them: one, of the bundler's own code, is the same in every build.
  const own = [...scripts].map((script) => script.getAttribute('src')).join(' ')
  const answer = await fetch('/console/', { cache: 'no-store' }).catch(() => undefined)
  if (!answer?.ok || !own) return
  const served = [...(await answer.text()).matchAll(SCRIPTS)].map(([, src]) => src).join(' ')
  if (!served || served === own) return
  if (isInUse() || sessionStorage.getItem(RELOADED_FOR) === served) {
    isOutdated = true
    for (const listener of listeners) listener()
    return
  }
  sessionStorage.setItem(RELOADED_FOR, served)
  location.reload()
}

/** Leaving the page would lose typed text, or a secret that is shown only once. */
export function isInUse(): boolean {
  return typedOn === location.pathname || document.querySelector('[role="dialog"]') !== null
}

export function useIsOutdated(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => isOutdated,
  )
}

/**
 * Loads a page's files. If they cannot be loaded, waits for the gateway and then loads the whole
 * page again: browsers keep failed imports, and a new build has other files.
 */
export async function loadFiles<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (error) {
    await askGateway()
    await whenOnline()
    const last = Number(sessionStorage.getItem(RELOADED_AT) ?? 0)
    if (Date.now() - last < RELOAD_AGAIN_MS) throw error
    sessionStorage.setItem(RELOADED_AT, String(Date.now()))
    location.reload()
    return new Promise(() => undefined)
  }
}
