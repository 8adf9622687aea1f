from quillmerge.cli import main

raise SystemExit(main())
