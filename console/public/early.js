// Runs before the first paint: the language and the appearance that the console will choose. Also
// loads the page again if one of its files is missing: while a version replaces another behind one
// address, the page and its files may come from gateways of different versions.
{
  /** Browsers may forbid storage. */
  const permitted = (use) => {
    try {
      return use()
    } catch {
      return null
    }
  }
  const read = (name) => permitted(() => localStorage.getItem(name))
  const root = document.documentElement
  const preferred = navigator.languages.map((one) => one.slice(0, 2).toLowerCase())
  const known = preferred.find((one) => one === 'en' || one === 'zh')
  if ((read('tributary.language') ?? known) === 'zh') root.lang = 'zh-CN'
  const scheme = read('mantine-color-scheme-value')
  const prefersDark = matchMedia('(prefers-color-scheme: dark)').matches
  const isDark = scheme === 'dark' || (scheme !== 'light' && prefersDark)
  root.dataset.mantineColorScheme = isDark ? 'dark' : 'light'
  const isBareAddress = /^[\d.]+$|^\[/.test(location.hostname)
  if ('PublicKeyCredential' in window && !isBareAddress) root.dataset.passkeys = ''

  const FILES = new URL('assets/', document.currentScript.src).href
  const RELOADS = 'tributary.reloads'
  const FETCHES = 4
  const RELOAD_MS = 250
  const RELOAD_MS_MAX = 30_000
  let isFailed = false

  /** Once one of the gateways has sent a file, the browser keeps it. */
  async function fetchFile(url) {
    let answer = null
    for (let tries = 0; tries < FETCHES && !answer?.ok; tries += 1) {
      answer = await fetch(url).catch(() => null)
    }
    return answer
  }

  /** A page that is loaded again while no gateway answers would be the browser's error. */
  const reloadWhenServed = (url, waitMs) =>
    setTimeout(async () => {
      if (await fetchFile(url)) location.reload()
      else reloadWhenServed(url, waitMs)
    }, waitMs)

  const onFailed = ({ target }) => {
    const url = String(target?.src || target?.href)
    if (isFailed || !url.startsWith(FILES)) return
    isFailed = true
    const reloads = Number(permitted(() => sessionStorage.getItem(RELOADS)))
    const isCounted = permitted(() => {
      sessionStorage.setItem(RELOADS, String(reloads + 1))
      return true
    })
    // Without a count, a file that is missing for good would make the page load itself at once.
    const waitMs = isCounted ? RELOAD_MS * 2 ** reloads : RELOAD_MS_MAX
    reloadWhenServed(url, Math.min(waitMs, RELOAD_MS_MAX))
  }

  addEventListener('error', onFailed, true)
  addEventListener('load', () => {
    removeEventListener('error', onFailed, true)
    if (!isFailed) permitted(() => sessionStorage.removeItem(RELOADS))
  })
}
