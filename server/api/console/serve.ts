/**
 * GET /console/…: the built console. Any path that is not a file gets the page, which routes it.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { openBuild } from '../../base/http/built/files.ts'
import { sendBuiltFile } from '../../base/http/built/send.ts'
import type { Context } from '../../base/http/context.ts'
import { sendBytes } from '../../base/http/reply.ts'
import { GatewayError } from '../../base/lib/errors.ts'
import type { PlainEndpoint } from '../endpoints/endpoint.ts'

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'console', 'dist')
const NONCE_BYTES = 16
const NOT_BUILT = `<!doctype html><meta charset="utf-8"><title>Tributary</title>
<h1>The console is not built</h1><p>Run <code>npm run build</code> beside the gateway, then load
this page again. The API works without it.</p>`

interface ConsoleOptions {
  /** The origin of tasks' pictures and videos. */
  readonly publicUrl: string
  readonly folder?: string
  /** Returns whether a reader may enter the demo with a button; undefined without a demo. */
  readonly demoFor?: (request: Context['request']) => 'here' | 'elsewhere' | undefined
}

/** Returns the endpoints of the console, which are not part of the reference. */
export function createConsoleEndpoints(options: ConsoleOptions): PlainEndpoint[] {
  const read = openBuild(options.folder ?? FOLDER, 'index.html', String)
  const origins = [new URL(options.publicUrl).origin]

  /** The static sign-in page already includes the demo's part, so that nothing moves later. */
  function markDemo(page: string, { request }: Context): string {
    const demo = options.demoFor?.(request)
    return demo ? page.replace('<html ', `<html data-demo="${demo}" `) : page
  }

  async function serve(context: Context): Promise<void> {
    const name = context.params['*'] ?? ''
    const build = await read()
    const file = build?.files.get(name)
    if (file) sendBuiltFile(context, name, file)
    else if (name.startsWith('assets/')) throw new GatewayError('not_found')
    else if (build) sendPage(context, name, markDemo(build.main, context), origins)
    else sendHtml(context, 503, NOT_BUILT, "default-src 'none'; frame-ancestors 'none'")
  }

  return [
    declare('/', async (context) => redirectHome(context)),
    declare('/console', serve),
    declare('/console/*', serve),
  ]
}

function declare(path: string, handle: (context: Context) => Promise<void>): PlainEndpoint {
  const documentation = { summary: 'The console', tag: 'Console', answerType: 'text/html' }
  return { kind: 'plain', method: 'GET', paths: [path], envelope: 'flat', documentation, handle }
}

/** Browsers are redirected to the console; programs get 404, since their path is wrong. */
function redirectHome(context: Context): void {
  if (!context.request.headers.accept?.includes('text/html')) {
    throw new GatewayError('not_found', { message: 'no such path: GET /docs lists all' })
  }
  sendBytes(context, 302, { location: '/console/' }, Buffer.alloc(0))
}

/** The marks around the static sign-in page, which is shown until the console's script has run. */
const EARLY_BEGINS = '<!-- early sign-in'
const EARLY_ENDS = '<!-- /early sign-in -->'
const OTHER_SIGNED_OUT_PAGES: ReadonlySet<string> = new Set(['setup', 'invite', 'reset'])

function withoutEarlySignIn(page: string): string {
  const begin = page.indexOf(EARLY_BEGINS)
  const end = page.indexOf(EARLY_ENDS)
  return begin < 0 || end < begin
    ? page
    : page.slice(0, begin) + page.slice(end + EARLY_ENDS.length)
}

/** If the session has ended, the console leads to the sign-in page as usual. */
function startsWithSignIn(context: Context, name: string): boolean {
  if (name === 'sign-in') return true
  const isSignedIn = /\btributary_session=/.test(context.request.headers.cookie ?? '')
  return !isSignedIn && !OTHER_SIGNED_OUT_PAGES.has(name)
}

function sendPage(context: Context, name: string, page: string, origins: readonly string[]): void {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url')
  const shown = startsWithSignIn(context, name) ? page : withoutEarlySignIn(page)
  const html = shown.replaceAll('CSP_NONCE', nonce)
  sendHtml(context, 200, html, contentSecurityPolicy(nonce, origins))
}

function sendHtml(context: Context, status: number, html: string, policy: string): void {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(self), geolocation=()',
    'cache-control': 'no-store',
  }
  sendBytes(context, status, headers, Buffer.from(html))
}

/**
 * The Content-Security-Policy of the console's page: everything not listed is forbidden. Returns
 * the header. `nonce` covers the styles that dialogs add while they are open; scripts need none,
 * since only files of this origin run. `mediaOrigins` are the origins of pictures and videos.
 */
function contentSecurityPolicy(nonce: string, mediaOrigins: readonly string[]): string {
  const media = ["'self'", 'data:', 'blob:', ...mediaOrigins].join(' ')
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    `img-src ${media}`,
    `media-src ${media}`,
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
