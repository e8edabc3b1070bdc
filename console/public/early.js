// Runs before the first paint: the language and the appearance that the console will choose.
{
  const read = (name) => {
    try {
      return localStorage.getItem(name)
    } catch {
      return null
    }
  }
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
}
