/**
 * Notices that the gateway serves another build of the console than this tab runs. The tab reloads
 * itself once, or shows that it should where somebody is typing.
 */
import { useSyncExternalStore } from 'react'
import { askGateway, whenOnline } from './connection.ts'

const SCRIPTS = /<script type="module"[^>]* src="([^"]+)"/g
const CHECK_EVERY_MS = 300_000
const RELOADED_FOR = 'tributary.reloadedFor'
const RELOADS = 'tributary.reloadsOfFiles'
/** Reloads count together if they follow each other within this time. */
const RELOADS_MS = 60_000
/** The most requests for a missing file before a reload. */
const FETCHES = 4
/** The pauses before reloads, half a minute together: a gateway is replaced within that. */
const PAUSES_MS = [0, 1_000, 1_000, 2_000, 2_000, 4_000, 4_000, 8_000, 8_000]

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
 * page again: browsers keep failed imports, and a new build has other files. While a version
 * replaces another, the gateways have different files, so it takes several attempts.
 */
export async function loadFiles<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (error) {
    await askGateway()
    await whenOnline()
    const [count = 0, lastAt = 0] = (sessionStorage.getItem(RELOADS) ?? '').split(' ').map(Number)
    const reloads = Date.now() - lastAt < RELOADS_MS ? count : 0
    const pauseMs = PAUSES_MS[reloads]
    if (pauseMs === undefined) {
      // A person who tries again starts from the beginning.
      sessionStorage.removeItem(RELOADS)
      throw error
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    await fetchMissing(error)
    sessionStorage.setItem(RELOADS, `${reloads + 1} ${Date.now()}`)
    location.reload()
    return new Promise(() => undefined)
  }
}

/**
 * Asks for the files that were missing: once one of the gateways has sent them, the browser keeps
 * them. A style is named by the error alone, a script by the failed request too.
 */
async function fetchMissing(error: unknown): Promise<void> {
  const files = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
  const missing = files.filter((file) => file.responseStatus === 404).map((file) => file.name)
  const [named = ''] = /\S*\/assets\/\S+/.exec(String(error)) ?? []
  for (const url of [...missing, named].filter((one) => one.includes('/console/assets/'))) {
    let isFound = false
    for (let tries = 0; tries < FETCHES && !isFound; tries += 1) {
      isFound = await fetch(url).then(
        (answer) => answer.ok,
        () => false,
      )
    }
  }
}
