// Search in one field, on every page. The key `/` leads to it, unless another field has the focus.
import { useNavigate } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { type FormEvent, useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { controlClasses } from '../../ui/form/Field.tsx'
import { paths } from '../paths.ts'
import { useMay } from '../use-me.ts'

export function SearchField() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const may = useMay()
  const field = useRef<HTMLInputElement>(null)
  useSlashKey(() => field.current?.focus())
  if (!may('customers.read')) return null

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    const text = field.current?.value.trim() ?? ''
    if (text !== '') void navigate({ to: paths.search, search: { text } })
  }

  return (
    <search className="min-w-0 flex-1 sm:w-72 xl:w-52">
      <form onSubmit={submit} className="relative">
        <Search
          aria-hidden
          className="pointer-events-none absolute start-3 top-1/2 size-4 -translate-y-1/2 text-soft"
        />
        <input
          ref={field}
          type="search"
          name="text"
          aria-label={t('console.search.label')}
          placeholder={t('console.search.placeholder')}
          autoComplete="off"
          spellCheck={false}
          className={`${controlClasses} min-h-10 ps-9 py-1.5 text-ellipsis xl:text-sm`}
        />
      </form>
    </search>
  )
}

function useSlashKey(act: () => void): void {
  useEffect(() => {
    function listen(event: KeyboardEvent): void {
      const isTyping = event.target instanceof Element && event.target.closest('input,textarea')
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  })
}
