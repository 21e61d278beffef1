import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useCreateProject, useProjectId, useProjects, type Project } from '../api/projects.ts'
import { Age } from '../ui/data/age.tsx'
import { Button } from '../ui/controls/button.tsx'
import { NotLoaded } from '../ui/data/error-notice.tsx'
import { TextField } from '../ui/controls/fields.tsx'

export function ProjectsSection() {
  const projects = useProjects()
  const current = useProjectId()
  return (
    <>
      <p className="dim">
        A project has its own sessions, keys, prices and retention. Sessions that don’t name a project go to
        Default.
      </p>
      {projects.data === undefined ? (
        <NotLoaded query={projects} lines={3} />
      ) : (
        <ProjectTable projects={projects.data} current={current} />
      )}
      <h2>New project</h2>
      <NewProject />
    </>
  )
}

function ProjectTable({ projects, current }: { projects: readonly Project[]; current: string }) {
  return (
    <table className="settings-table">
      <thead>
        <tr>
          <th>Name</th>
          <th>Id</th>
          <th className="extra">Created</th>
          <th>Retention</th>
          <th>
            <span className="visually-hidden">Switch</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {projects.map(({ id, name, createdAt, retentionDays }) => (
          <tr key={id}>
            <td>
              <Link to="/sessions" search={{ project: id }}>
                {name}
              </Link>
            </td>
            <td className="mono">{id}</td>
            <td className="extra">
              <Age time={createdAt} />
            </td>
            <td>{retentionDays === null ? 'Forever' : `${retentionDays} days`}</td>
            <td className="tools">
              {id === current ? <span className="dim">Current</span> : <Switch id={id} name={name} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Switch({ id, name }: { id: string; name: string }) {
  const navigate = useNavigate({ from: '/settings/$section' })
  return (
    <Button
      aria-label={`Switch to ${name}`}
      onClick={() => void navigate({ search: (before) => ({ ...before, project: id }) })}
    >
      Switch
    </Button>
  )
}

function NewProject() {
  const [name, setName] = useState('')
  const creation = useCreateProject()
  const navigate = useNavigate()
  return (
    <form
      className="settings-form"
      onSubmit={(event) => {
        event.preventDefault()
        creation.mutate(
          { name: name.trim() },
          {
            onSuccess: ({ id }) => void navigate({ to: '/sessions', search: { project: id } }),
          },
        )
      }}
    >
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        maxLength={200}
        required
        error={creation.error?.message}
        hint="The id is derived from the name."
      />
      <Button type="submit" look="accent" disabled={name.trim() === '' || creation.isPending}>
        Create project
      </Button>
    </form>
  )
}
