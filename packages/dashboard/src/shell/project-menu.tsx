import { useNavigate } from '@tanstack/react-router'
import { ChevronDown, Folder, Plus } from 'lucide-react'
import { useProjectId, useProjects } from '../api/projects.ts'
import { Button } from '../ui/controls/button.tsx'
import { Menu, MenuHeading, MenuItem, MenuLine } from '../ui/controls/menu.tsx'

/** Shows the current project and switches to another. */
export function ProjectMenu() {
  const current = useProjectId()
  const { data: projects = [] } = useProjects()
  const navigate = useNavigate()
  const name = projects.find(({ id }) => id === current)?.name ?? current
  return (
    <Menu
      label="Projects"
      trigger={
        <Button
          look="quiet"
          className="shell-project"
          aria-label={`Project: ${name}. Switch project`}
          title={name}
        >
          <Folder size={14} aria-hidden="true" />
          <span>{name}</span>
          <ChevronDown size={14} aria-hidden="true" className="shell-project-more" />
        </Button>
      }
    >
      <MenuHeading>Projects</MenuHeading>
      {projects.map((project) => (
        <MenuItem
          key={project.id}
          isChecked={project.id === current}
          onSelect={() => void navigate({ to: '/sessions', search: { project: project.id } })}
        >
          {project.name}
        </MenuItem>
      ))}
      <MenuLine />
      <MenuItem
        icon={<Plus size={14} aria-hidden="true" />}
        onSelect={() => void navigate({ to: '/settings/$section', params: { section: 'projects' } })}
      >
        New project…
      </MenuItem>
    </Menu>
  )
}
