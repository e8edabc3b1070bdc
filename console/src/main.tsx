/** Entry point of the console in a browser. */
import './lib/style-nonce.ts'
import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import '@mantine/spotlight/styles.css'
import './app/styles.css'
import './app/early-sign-in.css'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { actOnce } from './app/act-once.ts'
import { dropEarlySignIn } from './app/early-sign-in.ts'
import { Providers } from './app/providers.tsx'
import { router } from './app/router.tsx'
import { copyExactAmounts } from './lib/copy-exact.ts'
import { watchBuild } from './lib/new-build.ts'

actOnce()
copyExactAmounts()
watchBuild()

const root = document.getElementById('root')
if (root) {
  dropEarlySignIn(root)
  createRoot(root).render(
    <StrictMode>
      <Providers>
        <RouterProvider router={router} />
      </Providers>
    </StrictMode>,
  )
}
