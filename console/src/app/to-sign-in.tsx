/** Redirects to the sign-in page and keeps the requested address. */
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { ENDED } from '../lib/session.tsx'

interface ToSignInProps {
  /** True if somebody was signed in on this page. */
  readonly isEnded: boolean
}

/** Keeps the first address: it changes before this page unmounts. */
export function ToSignIn({ isEnded }: ToSignInProps) {
  const { href } = useLocation()
  const [next] = useState(href)
  const navigate = useNavigate()
  useEffect(() => {
    const hash = isEnded ? ENDED : ''
    void navigate({ to: '/sign-in', search: { next }, hash, replace: true })
  }, [navigate, next, isEnded])
  return null
}
