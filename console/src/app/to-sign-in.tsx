/** To the sign-in page, remembering what was asked for. */
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

/** The address is that of the first look: it changes while this page is still on its way out. */
export function ToSignIn() {
  const { href } = useLocation()
  const [next] = useState(href)
  const navigate = useNavigate()
  useEffect(() => {
    void navigate({ to: '/sign-in', search: { next }, replace: true })
  }, [navigate, next])
  return null
}
