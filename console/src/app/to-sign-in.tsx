/** Redirects to the sign-in page and keeps the requested address. */
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

/** Keeps the first address: it changes before this page unmounts. */
export function ToSignIn() {
  const { href } = useLocation()
  const [next] = useState(href)
  const navigate = useNavigate()
  useEffect(() => {
    void navigate({ to: '/sign-in', search: { next }, replace: true })
  }, [navigate, next])
  return null
}
